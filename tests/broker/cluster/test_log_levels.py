"""The levels of the broker's loggers."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek.broker.cluster.log_levels import LEVELS, LOGGERS, ROOT, LogLevels

BROKER = Path(__file__).parents[3] / "broker"
ONE = "kafka.network.SocketServer"


@pytest.fixture
def levels() -> Iterator[LogLevels]:
    levels = LogLevels()
    yield levels
    levels.restore()


def test_loggers_that_the_broker_uses_are_listed() -> None:
    used = {name for path in BROKER.rglob("*.py") for name in re.findall(r'getLogger\("([^"]+)"\)', path.read_text())}
    assert used <= set(LOGGERS)


def test_loggers_of_kafka_are_listed(levels: LogLevels) -> None:
    """Kafka's LoggersTest and PlaintextAdminIntegrationTest change some of them."""
    throttled = "org.apache.kafka.server.quota.ClientQuotaManager$ThrottledChannelReaper"
    assert {"kafka.server.KafkaRequestHandler", "state.change.logger", throttled} <= levels.describe().keys()
    levels.set(ROOT, "ERROR")
    assert set(levels.describe().values()) == {"ERROR"}


@pytest.mark.parametrize("level", LEVELS)
def test_level_that_is_set_is_described_and_acts(levels: LogLevels, level: str) -> None:
    levels.set(ONE, level)
    assert levels.describe()[ONE] == level
    assert logging.getLogger(ONE).isEnabledFor(LEVELS[level])
    assert not logging.getLogger(ONE).isEnabledFor(LEVELS[level] - 1)


def test_level_of_root_applies_to_all_without_their_own(levels: LogLevels) -> None:
    python_root = logging.getLogger().level
    levels.set(ONE, "ERROR")
    levels.set(ROOT, "DEBUG")
    described = levels.describe()
    assert described[ONE] == "ERROR"
    assert {level for name, level in described.items() if name != ONE} == {"DEBUG"}
    assert logging.getLogger().level == python_root


def test_level_that_is_removed_is_that_of_the_parent(levels: LogLevels) -> None:
    levels.set(ROOT, "INFO")
    levels.set(ONE, "TRACE")
    levels.set(ONE, None)
    assert levels.describe()[ONE] == "INFO"


def test_restored_levels_are_those_before_the_first_change(levels: LogLevels) -> None:
    before = {name: logging.getLogger(name).level for name in (ONE, "kafka", "odradek")}
    for level in ("DEBUG", "ERROR"):
        levels.set(ONE, level)
        levels.set(ROOT, level)
    levels.restore()
    assert {name: logging.getLogger(name).level for name in before} == before
