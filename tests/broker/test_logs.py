"""Log entries: their format, protection against forged entries, and a queue that drops entries instead of blocking."""

from __future__ import annotations

import json
import logging
import os
import re
import threading
from collections.abc import Iterator

import pytest

from odradek.broker import logs
from odradek.broker.logs import JsonFormatter, QueueHandler, TextFormatter


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield root
    root.handlers[:] = handlers
    root.setLevel(level)


def written(root: logging.Logger, capfd: pytest.CaptureFixture[str]) -> list[str]:
    root.handlers[0].flush()
    return capfd.readouterr().err.splitlines()


def record(message: str, *args: object, error: BaseException | None = None) -> logging.LogRecord:
    exc_info = None if error is None else (type(error), error, error.__traceback__)
    return logging.LogRecord("kafka.log", logging.WARNING, "", 0, message, args, exc_info)


# Format


def test_text_formatter_writes_kafkas_format(root_logger: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure("text")
    logs.log_start([1, 2])
    logging.getLogger("kafka.log").warning("late by %d ms", 5)
    lines = written(root_logger, capfd)
    assert all(re.fullmatch(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (INFO|WARN) .+ \([\w.]+\)", line) for line in lines)
    assert lines[-1].endswith("] WARN late by 5 ms (kafka.log)")
    for wanted in (r"\[KafkaServer id=2\] started", "Transitioning from RECOVERY to RUNNING", "Kafka Server started"):
        assert any(re.search(wanted, line) for line in lines), wanted


def test_entries_below_the_level_are_left_out(root_logger: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure("text", "WARN")
    logs.hold_start_up_lines()
    logs.show("greeting\n")
    logging.getLogger("kafka.log").info("told")
    logging.getLogger("kafka.log").warning("warned")
    greeting, warned = written(root_logger, capfd)
    assert (greeting, " WARN warned " in warned) == ("greeting", True)


def test_json_formatter_writes_one_object_per_line(root_logger: logging.Logger, capfd: pytest.CaptureFixture[str]) -> None:
    logs.configure("json")
    logs.log_ignored_settings(["a.b", "c.d"])
    logs.log_ignored_settings([])
    try:
        raise ValueError("bad")
    except ValueError:
        logging.getLogger("kafka.server").exception("failed")
    first, second = map(json.loads, written(root_logger, capfd))
    assert first["level"] == "INFO"
    assert first["message"].endswith(": a.b, c.d")
    assert (second["level"], second["logger"], second["message"]) == ("ERROR", "kafka.server", "failed")
    assert "ValueError: bad" in second["exception"]


# Forged and long entries


def test_text_line_escapes_control_characters() -> None:
    line = TextFormatter().format(record("client %s", "a\n[forged] \x1b[31m\x9b\x7f\u2028\u202e é"))
    assert "client a\\n[forged] \\x1b[31m\\x9b\\x7f\\u2028\\u202e é (kafka.log)" in line
    assert "\n" not in line


def test_text_stack_trace_cannot_forge_an_entry() -> None:
    lines = TextFormatter().format(record("failed", error=ValueError("a\n[forged] INFO \x1b[31m"))).splitlines()
    assert [line for line in lines if not line.startswith("    ")] == lines[:1]
    assert lines[-2:] == ["    ValueError: a", "    [forged] INFO \\x1b[31m"]


@pytest.mark.parametrize("formatter", [TextFormatter(), JsonFormatter()])
def test_long_entry_is_truncated(formatter: logging.Formatter) -> None:
    line = formatter.format(record("%s", "a" * 10_000_000, error=ValueError("b" * 10_000_000)))
    assert len(line) < 70_000
    assert line.count("... (10000000 characters)") == 1


# The queue


class Pipe:
    """A pipe that blocks writes until it is opened."""

    def __init__(self) -> None:
        self.open, self.entered = threading.Event(), threading.Event()
        self.text = b""

    def write(self, data: bytes) -> None:
        self.entered.set()
        self.open.wait()
        self.text += data


def entry(handler: QueueHandler, text: str) -> None:
    handler.handle(record(text))


def test_full_queue_drops_and_counts_entries() -> None:
    pipe = Pipe()
    handler = QueueHandler(pipe.write, limit_bytes=100)
    entry(handler, "first")
    pipe.entered.wait()
    for number in range(10):
        entry(handler, f"{number:050d}")
    pipe.open.set()
    handler.flush()
    lines = pipe.text.decode().splitlines()
    assert lines == ["first", f"{0:050d}", "9 log entries were dropped because stderr was not read in time"]
    entry(handler, "last")
    handler.flush()
    assert pipe.text.decode().splitlines()[3:] == ["last"]


def test_flush_of_a_full_pipe_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "FLUSH_S", 0.01)
    pipe = Pipe()
    handler = QueueHandler(pipe.write)
    entry(handler, "first")
    handler.flush()
    assert pipe.text == b""
    pipe.open.set()


def test_handler_survives_a_closed_pipe() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    handler = QueueHandler(lambda data: logs.write_all(write_end, data))
    entry(handler, "into the void")
    handler.flush()
    assert handler._size == 0
    os.close(write_end)


def test_entry_that_cannot_be_formatted_is_replaced() -> None:
    pipe = Pipe()
    pipe.open.set()
    handler = QueueHandler(pipe.write)
    handler.handle(record("%d", "no number"))
    handler.flush()
    assert b"cannot format an entry of kafka.log: TypeError" in pipe.text


def test_non_blocking_pipe_gets_all_entries() -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    handler = QueueHandler(lambda data: logs.write_all(write_end, data))
    for _ in range(5):
        entry(handler, "x" * 30_000)
    received = bytearray()
    while len(received) < 5 * 30_001:
        received += os.read(read_end, 1 << 20)
    handler.flush()
    for descriptor in (read_end, write_end):
        os.close(descriptor)
    assert received == (b"x" * 30_000 + b"\n") * 5
