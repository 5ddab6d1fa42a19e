"""Settings of older releases: what DescribeConfigs shows of them, and what topics accept."""

from __future__ import annotations

import pytest

from odradek.broker.releases.release import NAMES, release_of
from odradek.broker.settings.cluster_config import rows_for
from odradek.broker.settings.older_rows import DEFAULTS_BEFORE, FORMER, SINCE
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.settings.rows import BROKER_SETTINGS, PRESENT, TOPIC_SETTINGS
from odradek.broker.settings.validation import validate_topic_configs
from odradek.broker.settings.values import BrokerConfig, TopicConfig


def config(name: str, **static: str) -> BrokerConfig:
    return BrokerConfig({key.replace("_", "."): text for key, text in static.items()}, rows=rows_for(release_of(name)))


def shown(name: str) -> dict[str, str | None]:
    return {entry.name: entry.value for entry in config(name).describe()}


def test_rows_of_latest_are_the_present_ones() -> None:
    assert rows_for(None) is PRESENT


@pytest.mark.parametrize(
    ("setting", "release", "value"),
    [
        ("message.max.bytes", "2.4", "1000012"),
        ("message.max.bytes", "2.5", "1048588"),
        ("group.max.session.timeout.ms", "2.2", "300000"),
        ("group.max.session.timeout.ms", "2.3", "1800000"),
        ("replica.lag.time.max.ms", "2.4", "10000"),
        ("inter.broker.protocol.version", "2.1", "2.1-IV2"),
        ("inter.broker.protocol.version", "2.8", "2.8-IV1"),
        ("inter.broker.protocol.version", "3.9", "3.9-IV0"),
        ("log.message.format.version", "2.7", "2.7-IV2"),
        ("log.message.format.version", "3.9", "3.0-IV1"),
        ("zookeeper.session.timeout.ms", "2.4", "6000"),
        ("zookeeper.session.timeout.ms", "2.5", "18000"),
        ("log.message.timestamp.after.max.ms", "3.9", str((1 << 63) - 1)),
        ("log.message.timestamp.after.max.ms", "4.0", "3600000"),
    ],
)
def test_describe_shows_defaults_of_the_release(setting: str, release: str, value: str) -> None:
    assert shown(release)[setting] == value


@pytest.mark.parametrize(
    ("setting", "first", "last"),
    [
        ("connections.max.reauth.ms", "2.2", "4.2"),
        ("transaction.partition.verification.enable", "3.6", "4.2"),
        ("process.roles", "3.3", "4.2"),
        ("zookeeper.connect", "2.1", "3.9"),
        ("advertised.host.name", "2.1", "2.8"),
        ("zookeeper.ssl.client.enable", "2.5", "3.9"),
        ("group.streams.session.timeout.ms", "4.1", "4.2"),
    ],
)
def test_describe_shows_only_settings_of_the_release(setting: str, first: str, last: str) -> None:
    releases = NAMES[:-2]
    assert [name for name in releases if setting in shown(name)] == list(releases[releases.index(first) : releases.index(last) + 1])


def test_describe_topic_shows_its_message_format_with_synonyms() -> None:
    (entry,) = TopicConfig(config("2.6", log_message_format_version="0.10.2"), {}).describe(["message.format.version"])
    assert (entry.value, [(each.name, each.value) for each in entry.synonyms]) == (
        "0.10.2",
        [("log.message.format.version", "0.10.2"), ("log.message.format.version", "2.6-IV0")],
    )
    assert TopicConfig(config("4.0"), {}).describe(["message.format.version"]) == []


def test_later_setting_has_the_value_that_the_release_had() -> None:
    assert config("3.5").booleans["transaction.partition.verification.enable"] is False
    assert config("2.4").integers["fetch.max.bytes"] == 0x7FFFFFFF


@pytest.mark.parametrize(
    ("release", "name", "value", "accepted"),
    [
        ("2.8", "message.format.version", "0.10.2", True),
        ("3.9", "message.format.version", "0.10.2", True),
        ("4.0", "message.format.version", "0.10.2", False),
        ("2.8", "message.format.version", "banana", False),
        ("4.0", "segment.bytes", "14", True),
        ("2.8", "local.retention.ms", "1", False),
        ("3.6", "local.retention.ms", "1", True),
        ("2.2", "max.compaction.lag.ms", "1", False),
    ],
)
def test_validate_topic_configs_knows_those_of_the_release(release: str, name: str, value: str, accepted: bool) -> None:
    rows = rows_for(release_of(release))
    if accepted:
        validate_topic_configs({name: value}, rows)
    else:
        with pytest.raises(InvalidConfig, match=name if value == "banana" else f"Unknown topic config name: {name}"):
            validate_topic_configs({name: value}, rows)


def test_tables_name_existing_settings_only() -> None:
    later = {name for names in SINCE.values() for name in names.split()}
    assert later - BROKER_SETTINGS.keys() - TOPIC_SETTINGS.keys() == set()
    assert DEFAULTS_BEFORE.keys() - BROKER_SETTINGS.keys() - {each.setting.name for each in FORMER} == set()
    assert {each.setting.name for each in FORMER} & {*BROKER_SETTINGS, *TOPIC_SETTINGS} == set()


def test_ignored_settings_of_zookeeper_are_known_in_old_releases() -> None:
    settings = {"zookeeper_connect": "zk:2181", "log_message_format_version": "0.10.0"}
    assert config("2.8", **settings).ignored_settings() == ["zookeeper.connect"]
    assert config("4.2", **settings).ignored_settings() == ["log.message.format.version", "zookeeper.connect"]


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
    assert TopicConfig(broker, {"message.format.version": version} if version else {}).message_format == magic
