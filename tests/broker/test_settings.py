"""The table of settings: complete, consistent, and as documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from odradek.broker.settings.rows import (
    BROKER_SETTINGS,
    GROUP_SETTINGS,
    OFFSET_RESET,
    REPLICAS,
    SETTINGS,
    TOPIC_SETTINGS,
    ConfigType,
    OneOf,
    Range,
    Scope,
    Setting,
)

ROOT = Path(__file__).parents[2]
PYTHON_TYPES = {ConfigType.BOOLEAN: bool, ConfigType.DOUBLE: float, ConfigType.LIST: tuple} | dict.fromkeys(
    (ConfigType.INT, ConfigType.SHORT, ConfigType.LONG), int
)


def test_the_table_is_as_large_as_kafkas() -> None:
    shown = [setting for setting in SETTINGS if not setting.internal]
    # Asked from Apache Kafka 4.3.1 by DescribeConfigs: 340 + 33 + 17; one more for user interfaces.
    assert sum(setting.scope is Scope.BROKER for setting in shown) == 340 + 1
    assert sum(setting.scope is Scope.TOPIC for setting in shown) == 33
    assert sum(setting.scope is Scope.GROUP for setting in shown) == 17
    assert len({(setting.scope, setting.name) for setting in SETTINGS}) == len(SETTINGS)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: f"{setting.scope.name}-{setting.name}")
def test_a_row_is_consistent(setting: Setting) -> None:
    assert setting.default is None or type(setting.default) is PYTHON_TYPES.get(setting.type, str)
    elements = setting.default if isinstance(setting.default, tuple) else (setting.default,)
    if setting.valid is not None and setting.default is not None and not isinstance(setting.valid, OneOf):
        assert [setting.valid.complaint(element) for element in elements] == [None] * len(elements)
    assert all(name in BROKER_SETTINGS for name in setting.synonyms)
    assert bool(setting.documentation) >= setting.acts


def test_what_differs_from_kafka_says_so() -> None:
    assert BROKER_SETTINGS["group.initial.rebalance.delay.ms"].default == 0
    assert "3000" in BROKER_SETTINGS["group.initial.rebalance.delay.ms"].documentation
    assert BROKER_SETTINGS["default.replication.factor"].at_most_nodes
    assert "Kafka's default: 1" in BROKER_SETTINGS["default.replication.factor"].documentation


def test_ranges_and_words_complain_as_kafka_does() -> None:
    assert Range(1).complaint(0) == "Value must be at least 1"
    assert Range(1, 17).complaint(18) == "Value must be no more than 17"
    assert Range(1, 17).complaint(17) is None
    level = TOPIC_SETTINGS["compression.gzip.level"].valid
    assert level is not None
    assert [level.complaint(value) for value in (-1, 1, 9)] == [None] * 3
    assert level.complaint(0) == level.complaint(10) == "Value must be between 1 and 9 or equal to -1"
    assert OneOf("a", "b").complaint("A") == "String must be one of: a, b"
    assert OneOf("A", ignore_case=True).complaint("a") is None


def test_forms() -> None:
    assert [REPLICAS.complaint(text) is None for text in ("*", "0:1", "0", "a:1", "0:1:2")] == [True, True, False, False, False]
    good = ("earliest", "latest", "by_duration:P1D", "by_duration:PT1H30M", "by_duration:P2DT0.5S")
    assert [OFFSET_RESET.complaint(text) for text in good] == [None] * len(good)
    bad = ("Earliest", "by_duration:", "by_duration:P", "by_duration:PT", "by_duration:P1DT", "by_duration:1D")
    assert all(OFFSET_RESET.complaint(text) for text in bad)


def read_by_code() -> set[str]:
    """Names of settings in the broker's source, as they are or with `_` for `.`, and the broker settings that they fall back to."""
    files = set((ROOT / "broker").rglob("*.py")) - {ROOT / "broker/settings/rows.py", ROOT / "broker/settings/values.py"}
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    words = {word.replace("_", ".") for word in re.findall(r"[a-z]+(?:[._][a-z0-9]+)+", source)} | set(re.findall(r'"(\w+)"', source))
    for prefix in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):  # internal topics share their code
        words |= {f"{prefix}.{rest}" for rest in ("num.partitions", "replication.factor", "min.isr", "segment.bytes")}
    for inheriting in (*TOPIC_SETTINGS.values(), *GROUP_SETTINGS.values()):
        if inheriting.name in words:
            words.update(inheriting.synonyms)
            # The check of a group's own settings makes the names of their bounds (config.py).
            words |= {inheriting.name.replace(".", f".{bound}.", 1).join(["group.", ""]) for bound in ("min", "max")}
    return words


def test_what_is_said_to_act_is_read_somewhere() -> None:
    words = read_by_code()
    silent = [f"{setting.scope.name} {setting.name}" for setting in SETTINGS if setting.acts and setting.name not in words]
    assert not silent, "these rows say acts=True, but no code reads them"


def test_what_the_code_reads_is_said_to_act() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "broker").rglob("*.py"))
    read = set(re.findall(r'\.(?:integers|booleans|doubles|texts|lists)\["([a-z0-9.]+)"\]', source))
    assert read, "the pattern finds nothing any more"
    acting = {setting.name for setting in SETTINGS if setting.acts}
    assert not read - acting, "the code reads these settings: they are unknown, or their rows lack acts=True"
