"""The format of a topic's messages by `message.format.version`."""

from __future__ import annotations

import pytest

from odradek.broker.releases.release import release_of
from odradek.broker.settings.cluster_config import rows_for
from odradek.broker.settings.message_format import message_format
from odradek.broker.settings.values import BrokerConfig, TopicConfig


@pytest.mark.parametrize(
    ("release", "version", "magic"),
    [
        ("2.8", "0.8.2", 0),
        ("2.8", "0.9.0.1", 0),
        ("2.8", "0.10.0-IV1", 1),
        ("2.8", "0.10.2", 1),
        ("2.8", "0.11.0", 2),
        ("2.8", "2.0", 2),
        ("3.0", "0.10.2", 2),
        ("4.3", "", 2),
    ],
)
def test_message_format_follows_version_up_to_2_8(release: str, version: str, magic: int) -> None:
    broker = BrokerConfig({}, rows=rows_for(release_of(release)))
    assert message_format(TopicConfig(broker, {"message.format.version": version} if version else {})) == magic
