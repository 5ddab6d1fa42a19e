"""The format in which a topic of an older release keeps its messages (`message.format.version`)."""

from __future__ import annotations

from .values import TopicConfig

BATCHES = 2


def message_format(config: TopicConfig) -> int:
    """Returns the magic of the topic's messages: 0 before 0.10, 1 before 0.11, and 2 since then."""
    if not config.broker.rows.message_formats:
        return BATCHES
    major, minor = config.texts["message.format.version"].split(".")[:2]
    if int(major):
        return BATCHES
    return 0 if int(minor) < 10 else 1 if int(minor) == 10 else BATCHES
