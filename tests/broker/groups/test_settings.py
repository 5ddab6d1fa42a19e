"""The settings of groups come from the broker's configuration."""

from __future__ import annotations

from odradek.broker.groups.settings import GroupSettings
from odradek.broker.settings.values import BrokerConfig


def test_settings_of_config_have_its_values() -> None:
    config = BrokerConfig({"group.max.size": "7", "offsets.retention.minutes": "3"})
    assert GroupSettings.of(config) == GroupSettings(group_max_size=7, offsets_retention_minutes=3)
