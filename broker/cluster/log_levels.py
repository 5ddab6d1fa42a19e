"""The log levels that clients see and change as the configs of BROKER_LOGGER resources (KIP-412; Kafka's RuntimeLoggerManager).

Kafka's brokers are processes with loggers of their own. Here all nodes of a process write to the same loggers, so a level that is set on
one node applies to all. The levels from before are set again when the cluster stops or its state is replaced, because the loggers belong to
the program in which the cluster runs. For the same reason, `root` is not Python's root logger but the parents of the broker's own loggers.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

ROOT = "root"
PARENTS = ("kafka", "odradek", "org.apache.kafka")
LOGGERS = (
    "kafka.controller.KafkaController",
    "kafka.coordinator.group.GroupCoordinator",
    "kafka.coordinator.transaction.TransactionCoordinator",
    "kafka.log.LogCleaner",
    "kafka.log.LogManager",
    "kafka.network.SocketServer",
    "kafka.server.BrokerLifecycleManager",
    "kafka.server.KafkaApis",
    "kafka.server.KafkaConfig",
    "kafka.server.KafkaRaftServer",
    "kafka.server.KafkaServer",
    "kafka.server.share.SharePartitionManager",
    "kafka.utils.KafkaScheduler",
    "odradek.capture",
    "odradek.control",
    "org.apache.kafka.coordinator.share.ShareCoordinatorShard",
)
LEVELS = {
    "DEBUG": logging.DEBUG,
    "ERROR": logging.ERROR,
    "FATAL": logging.CRITICAL,
    "INFO": logging.INFO,
    "TRACE": 5,
    "WARN": logging.WARNING,
}
"""The levels by Kafka's names. TRACE is below all of Python's."""


class LogLevels:
    """The levels of the broker's loggers."""

    def __init__(self) -> None:
        self._before: dict[str, int] = {}

    def describe(self) -> Mapping[str, str]:
        """Returns the level of each logger by name, whether it is its own or that of a parent."""
        return {name: _name_of(logging.getLogger(PARENTS[0] if name == ROOT else name).getEffectiveLevel()) for name in (*LOGGERS, ROOT)}

    def set(self, name: str, level: str | None) -> None:
        """Sets the level of a logger, whose name must be in LOGGERS or ROOT; with None, it gets that of its parent."""
        for each in PARENTS if name == ROOT else (name,):
            logger = logging.getLogger(each)
            self._before.setdefault(each, logger.level)
            logger.setLevel(logging.NOTSET if level is None else LEVELS[level])

    def restore(self) -> None:
        """Sets all levels as they were before the first change."""
        for name, level in self._before.items():
            logging.getLogger(name).setLevel(level)
        self._before.clear()


def _name_of(level: int) -> str:
    """Returns Kafka's name of the highest level that lets the same entries pass, such as TRACE for 1."""
    return next((name for name, value in sorted(LEVELS.items(), key=lambda item: item[1]) if level <= value), "FATAL")
