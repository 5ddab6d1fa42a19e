"""Names of topics: legal names, names that collide, and the names of Kafka's internal topics."""

from __future__ import annotations

import re

from ...protocol.errors import ErrorCode, KafkaError

MAX_NAME_LENGTH = 249
CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE})
CLUSTER_METADATA = "__cluster_metadata"
"""The log of the metadata quorum. It is not a topic: clients can neither create it nor read it."""
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


def illegal_name(name: str) -> str | None:
    """Returns the reason why a topic cannot have this name, in the words of Kafka's `Topic.validate`; None for a legal name."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > MAX_NAME_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    if not _LEGAL_NAME.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def metric_name(name: str) -> str:
    """Returns the name of a topic in Kafka's metrics, where '.' becomes '_'."""
    return name.replace(".", "_")


class TopicNames:
    """The names in use, indexed by metric name, so that checking a new name costs one look-up.

    Kafka refuses two topics with the same metric name, because their metrics would overwrite each other.
    """

    def __init__(self) -> None:
        self._by_metric_name: dict[str, str] = {}

    def check(self, name: str) -> None:
        """Raises KafkaError with INVALID_TOPIC_EXCEPTION if the name is illegal or its metric name is in use."""
        if reason := illegal_name(name):
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
        if other := self._by_metric_name.get(metric_name(name)):
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {other}")

    def add(self, name: str) -> None:
        """Marks a name as used."""
        self._by_metric_name[metric_name(name)] = name

    def remove(self, name: str) -> None:
        """Releases the name of a deleted topic."""
        del self._by_metric_name[metric_name(name)]
