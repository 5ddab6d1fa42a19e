"""The table of settings is complete and consistent, and `acts` agrees with the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from odradek.broker.settings.older_rows import FORMER
from odradek.broker.settings.rows import BROKER_SETTINGS, GROUP_SETTINGS, SETTINGS, TOPIC_SETTINGS
from odradek.broker.settings.types import OFFSET_RESET, REPLICAS, ConfigResourceType, ConfigType, OneOf, Setting

ROOT = Path(__file__).parents[3]
NOT_READING = ("*rows.py", "values.py", "documentation.py")
"""Modules of settings/ that contain names of settings without applying them."""
PYTHON_TYPES = {ConfigType.BOOLEAN: bool, ConfigType.DOUBLE: float, ConfigType.LIST: tuple} | dict.fromkeys(
    (ConfigType.INT, ConfigType.SHORT, ConfigType.LONG), int
)


def test_rows_have_same_counts_as_kafka() -> None:
    shown = [setting for setting in SETTINGS if not setting.internal]
    # DescribeConfigs of Apache Kafka 4.3.1 returns 340 + 33 + 17.
    assert sum(setting.scope is ConfigResourceType.BROKER for setting in shown) == 340
    assert sum(setting.scope is ConfigResourceType.TOPIC for setting in shown) == 33
    assert sum(setting.scope is ConfigResourceType.GROUP for setting in shown) == 17
    assert len({(setting.scope, setting.name) for setting in SETTINGS}) == len(SETTINGS)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: f"{setting.scope.name}-{setting.name}")
def test_row_is_consistent(setting: Setting) -> None:
    assert setting.default is None or type(setting.default) is PYTHON_TYPES.get(setting.type, str)
    elements = setting.default if isinstance(setting.default, tuple) else (setting.default,)
    if setting.valid is not None and setting.default is not None and not isinstance(setting.valid, OneOf):
        assert [setting.valid.complaint(element) for element in elements] == [None] * len(elements)
    assert all(name in BROKER_SETTINGS for name in setting.synonyms)
    assert bool(setting.documentation) >= setting.acts


def test_rows_document_defaults_that_differ_from_kafka() -> None:
    assert BROKER_SETTINGS["group.initial.rebalance.delay.ms"].default == 0
    assert "Kafka's default is 3000" in BROKER_SETTINGS["group.initial.rebalance.delay.ms"].documentation
    assert BROKER_SETTINGS["default.replication.factor"].at_most_nodes
    assert "Kafka's default: 1" in BROKER_SETTINGS["default.replication.factor"].documentation


def test_forms_of_replicas_and_offset_reset() -> None:
    assert [REPLICAS.complaint(text) is None for text in ("*", "0:1", "0", "a:1", "0:1:2")] == [True, True, False, False, False]
    good = ("earliest", "latest", "by_duration:P1D", "by_duration:PT1H30M", "by_duration:P2DT0.5S")
    assert [OFFSET_RESET.complaint(text) for text in good] == [None] * len(good)
    bad = ("Earliest", "by_duration:", "by_duration:P", "by_duration:PT", "by_duration:P1DT", "by_duration:1D")
    assert all(OFFSET_RESET.complaint(text) for text in bad)


def read_by_code() -> set[str]:
    """Returns the settings named in the broker's source, literally or with `_` for `.`, and the broker settings they fall back to."""
    files = set((ROOT / "broker").rglob("*.py")) - {path for name in NOT_READING for path in (ROOT / "broker/settings").glob(name)}
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    words = {word.replace("_", ".") for word in re.findall(r"[a-z]+(?:[._][a-z0-9]+)+", source)} | set(re.findall(r'"(\w+)"', source))
    # Code shared by the internal topics composes these names.
    for prefix in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        words |= {f"{prefix}.{rest}" for rest in ("num.partitions", "replication.factor", "min.isr", "segment.bytes")}
    for inheriting in (*TOPIC_SETTINGS.values(), *GROUP_SETTINGS.values()):
        if inheriting.name in words:
            words.update(inheriting.synonyms)
            # validate_group_configs composes the names of the bounds of a group's settings.
            words |= {inheriting.name.replace(".", f".{bound}.", 1).join(["group.", ""]) for bound in ("min", "max")}
    return words


def test_rows_that_act_are_read_by_code() -> None:
    words = read_by_code()
    silent = [f"{setting.scope.name} {setting.name}" for setting in SETTINGS if setting.acts and setting.name not in words]
    assert not silent, "these rows have acts=True, but no code reads them"


def test_settings_read_by_code_have_rows_that_act() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "broker").rglob("*.py"))
    read = set(re.findall(r'\.(?:integers|booleans|doubles|texts|lists)\["([a-z0-9.]+)"\]', source))
    assert read, "the pattern no longer matches any code"
    acting = {setting.name for setting in (*SETTINGS, *(each.setting for each in FORMER)) if setting.acts}
    assert not read - acting, "code reads these settings, but they have no row or their rows lack acts=True"


def test_each_setting_that_is_shown_is_documented_in_a_sentence() -> None:
    shown = [setting for setting in SETTINGS if not setting.internal]
    assert [setting.name for setting in shown if not re.fullmatch(r"[A-Z].*[^ .]\.", setting.documentation)] == []
