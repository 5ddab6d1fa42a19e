"""The log of `odradek serve`: formats entries as Kafka does, or as JSON, and writes them to stderr without blocking the broker.

Loggers have the names of Kafka's loggers, and start-up messages have Kafka's wording, because wait strategies such as those of
testcontainers search for both.

An entry is formatted where it is logged, and a daemon thread writes it. If stderr is a pipe that is not read, at most QUEUE_BYTES are kept;
further entries are dropped and counted. Programs that embed a cluster configure `logging` themselves.
"""

from __future__ import annotations

import logging
import os
import select
import sys
import threading
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType

LEVELS = {"WARNING": "WARN", "CRITICAL": "FATAL"}
QUEUE_BYTES = 1024 * 1024
TEXT_CHARACTERS = 32 * 1024
FLUSH_S = 1.0

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ESCAPES = {code: chr(code).encode("unicode_escape").decode() for code in _CONTROLS}
_ESCAPES_IN_TRACES = {code: text for code, text in _ESCAPES.items() if code != ord("\n")} | {ord("\n"): "\n    "}

ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def _bounded(text: str) -> str:
    """Returns the text, cut to TEXT_CHARACTERS, because messages and exceptions may contain data that a client has sent."""
    return text if len(text) <= TEXT_CHARACTERS else f"{text[:TEXT_CHARACTERS]}... ({len(text)} characters)"


class TextFormatter(logging.Formatter):
    """Formats entries as Kafka's log4j pattern does: `[2026-11-21 03:09:25,195] INFO started (kafka.server.KafkaServer)`.

    Control characters are escaped and the lines of a stack trace indented, so that no client can forge a log entry or write to a terminal.
    """

    def __init__(self) -> None:
        super().__init__("[%(asctime)s] %(kafka_level)s %(message)s (%(name)s)")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  (logging's name)
        record.kafka_level = LEVELS.get(record.levelname, record.levelname)
        record.message = _bounded(record.message).translate(_ESCAPES)
        return super().formatMessage(record)

    def formatException(self, ei: ExcInfo) -> str:  # noqa: N802  (logging's name)
        return "    " + _bounded(super().formatException(ei)).translate(_ESCAPES_IN_TRACES)


class JsonFormatter(logging.Formatter):
    """Formats each entry as one JSON object: time, level, logger, message, and exception if there is one."""

    def format(self, record: logging.LogRecord) -> str:
        from json import dumps

        level = LEVELS.get(record.levelname, record.levelname)
        entry = {"time": self.formatTime(record), "level": level, "logger": record.name, "message": _bounded(record.getMessage())}
        if record.exc_info:
            entry["exception"] = _bounded(self.formatException(record.exc_info))
        return dumps(entry)


class QueueHandler(logging.Handler):
    """Formats records in the thread that logs them, and calls `write` with the bytes in a thread of its own.

    At most `limit_bytes` are kept. Further entries are dropped, and their number is logged as soon as there is room again.
    """

    def __init__(self, write: Callable[[bytes], object], limit_bytes: int = QUEUE_BYTES) -> None:
        super().__init__()
        self._write = write
        self._limit_bytes = limit_bytes
        self._lines: list[bytes] = []
        self._size = 0  # of the lines that are queued or being written
        self._dropped = 0
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="odradek-log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        line = self._line(record)
        with self._changed:
            if self._size + len(line) > self._limit_bytes:
                self._dropped += 1
            else:
                self._put_dropped()
                self._put(line)

    def write(self, text: str) -> None:
        """Queues text that is not a log entry, after the entries so far."""
        with self._changed:
            self._put(text.encode(errors="backslashreplace"))

    def _line(self, record: logging.LogRecord) -> bytes:
        try:
            text = self.format(record)
        except Exception as error:
            text = f"cannot format an entry of {record.name}: {error!r}"
        return text.encode(errors="backslashreplace") + b"\n"

    def _put(self, line: bytes) -> None:
        self._lines.append(line)
        self._size += len(line)
        self._changed.notify_all()

    def _put_dropped(self) -> None:
        if self._dropped:
            text = f"{self._dropped} log entries were dropped because stderr was not read in time"
            self._dropped = 0
            self._put(self._line(logging.LogRecord(__name__, logging.WARNING, "", 0, text, None, None)))

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._lines)
                lines, self._lines = self._lines, []
            try:
                self._write(b"".join(lines))
            except OSError:
                pass  # stderr is closed
            finally:
                with self._changed:
                    self._size -= sum(map(len, lines))
                    if not self._lines:
                        self._put_dropped()
                    self._changed.notify_all()

    def flush(self) -> None:
        """Waits until all entries are written, for at most FLUSH_S."""
        with self._changed:
            self._changed.wait_for(lambda: not self._size, FLUSH_S)


def configure(log_format: str, level: str = "INFO") -> None:
    """Sends all entries of this level and above to stderr, as `text` or `json`. The level has Kafka's name, such as WARN."""
    # The file descriptor is used because a thread that blocks in a write to sys.stderr would hold its lock.
    handler = QueueHandler(partial(write_all, sys.stderr.fileno()))
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)


def hold_start_up_lines() -> None:
    """Suppresses log entries below WARNING until `show` is called."""
    for handler in logging.getLogger().handlers:
        handler.setLevel(logging.WARNING)


def show(text: str) -> None:
    """Writes text to stderr, after the entries so far and without waiting, and ends the suppression of entries.

    `configure` must have been called.
    """
    for handler in logging.getLogger().handlers:
        if isinstance(handler, QueueHandler):
            handler.write(text)
        handler.setLevel(logging.NOTSET)


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all bytes to a file, waiting while a pipe is full. Raises OSError."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            select.select([], [descriptor], [])


def ignored_settings(names: Iterable[str]) -> None:
    """Logs the names of settings that have no effect."""
    if listed := ", ".join(names):
        logging.getLogger("kafka.server.KafkaConfig").info("these settings have no effect (DescribeConfigs returns them): %s", listed)


def unknown_settings(names: Iterable[str]) -> None:
    """Warns of settings that Kafka does not know, which were given and are ignored."""
    if listed := ", ".join(names):
        logging.getLogger("kafka.server.KafkaConfig").warning("ignored unknown settings: %s", listed)


def started(node_ids: Iterable[int]) -> None:
    """Logs, in Kafka's words, that all listeners accept, because wait strategies such as those of testcontainers search for these words."""
    for node_id in node_ids:
        logging.getLogger("kafka.server.BrokerLifecycleManager").info(
            "[BrokerLifecycleManager id=%d] The broker is ready. Transitioning from RECOVERY to RUNNING.", node_id
        )
        logging.getLogger("kafka.server.KafkaServer").info("[KafkaServer id=%d] started", node_id)
    logging.getLogger("kafka.server.KafkaRaftServer").info("Kafka Server started")
