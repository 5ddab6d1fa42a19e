"""Log lines in Kafka's shape, or as JSON. Loggers are named as Kafka's, so that tools which read broker logs find what they look for."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable

LEVELS = {"WARNING": "WARN", "CRITICAL": "FATAL"}


class TextFormatter(logging.Formatter):
    """`[2026-11-21 03:09:25,195] INFO started (kafka.server.KafkaServer)`."""

    def __init__(self) -> None:
        super().__init__("[%(asctime)s] %(kafka_level)s %(message)s (%(name)s)")

    def format(self, record: logging.LogRecord) -> str:
        """The line, and those of a traceback below it."""
        record.kafka_level = LEVELS.get(record.levelname, record.levelname)
        return super().format(record)


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and exception if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        level = LEVELS.get(record.levelname, record.levelname)
        entry = {"time": self.formatTime(record), "level": level, "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            entry["exception"] = self.formatException(record.exc_info)
        return json.dumps(entry)


def configure(log_format: str) -> None:
    """Sends all log lines from INFO up to stderr, as `text` or `json`."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


def ignored_settings(names: Iterable[str]) -> None:
    """Names once what was set and changes nothing."""
    if listed := ", ".join(names):
        logging.getLogger("kafka.server.KafkaConfig").info("These settings are kept and shown, but change nothing here: %s", listed)


def started(node_ids: Iterable[int]) -> None:
    """Says that every listener accepts, in the words that testcontainers and others wait for."""
    for node_id in node_ids:
        logging.getLogger("kafka.server.BrokerLifecycleManager").info(
            "[BrokerLifecycleManager id=%d] The broker is ready. Transitioning from RECOVERY to RUNNING.", node_id
        )
        logging.getLogger("kafka.server.KafkaServer").info("[KafkaServer id=%d] started", node_id)
    logging.getLogger("kafka.server.KafkaRaftServer").info("Kafka Server started")
