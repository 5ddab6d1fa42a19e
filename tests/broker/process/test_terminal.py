"""The start-up output at a terminal, and the progress bar, with a clock and a terminal of the test."""

from __future__ import annotations

import io
import os
import signal
import subprocess
from collections.abc import Sequence

import pytest

from odradek.broker.process.terminal import CLEAR_LINE, MEGABYTES, ProgressBar
from tests.broker.process.serve_process import running


def output_on_a_terminal(argv: Sequence[str]) -> tuple[str, str]:
    """Runs a cluster until Ctrl-C with a terminal as stderr. Returns its output on stdout and on the terminal."""
    ours, theirs = os.openpty()
    with running(argv, stderr=theirs) as process, os.fdopen(ours, encoding="utf-8", newline="") as terminal:
        os.close(theirs)
        shown = ""
        while "Ctrl-C stops" not in shown:
            shown += terminal.readline()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=10)
        assert process.returncode == 0
    return output, shown.replace("\r\n", "\n")


needs_terminal = pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals here")


@needs_terminal
def test_terminal_shows_the_address_for_controls() -> None:
    output, shown = output_on_a_terminal(["--nodes", "1", "--port", "0", "--control", "127.0.0.1:0"])
    servers, control = (line.partition("=")[2] for line in output.splitlines())
    assert shown.endswith(f"\n\nexport BOOTSTRAP_SERVERS={servers}\nexport ODRADEK_CONTROL={control}\n\nCtrl-C stops the cluster.\n")


@needs_terminal
def test_terminal_shows_a_table_and_an_export_line() -> None:
    output, shown = output_on_a_terminal(["--port", "0", "--topic", "orders:1", "--set", "zookeeper.connect=a"])
    servers = output.removeprefix("bootstrap.servers=").removesuffix("\n")
    first, second = servers.split(",")
    ignored, table = shown.split("\n\n", 1)
    assert ignored.endswith("have no effect (DescribeConfigs returns them): zookeeper.connect (kafka.server.KafkaConfig)")
    assert table == (
        f"NODE  LISTENER   ADDRESS\n1     PLAINTEXT  {first}\n2     PLAINTEXT  {second}\n\n"
        f"export BOOTSTRAP_SERVERS={servers}\n\nCtrl-C stops the cluster.\n"
    )


@pytest.mark.parametrize(("log_format", "greets"), [("text", True), ("json", False)])
def test_greeting_follows_the_start_up_lines_in_a_pipe(log_format: str, greets: bool) -> None:
    with running(["--nodes", "1", "--port", "0", "--log-format", log_format], stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        address = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
    assert "started" in errors.partition("NODE  LISTENER")[0]
    assert (f"\nexport BOOTSTRAP_SERVERS={address.partition('=')[2]}" in errors) is greets


class Terminal(io.StringIO):
    """A stream in memory that is a terminal."""

    def isatty(self) -> bool:
        return True


class Clock:
    """A clock that stands until the test moves it."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


def shown(progress: ProgressBar, clock: Clock, *steps: tuple[float, int]) -> None:
    for seconds, amount in steps:
        clock.now_s += seconds
        progress.advance(amount)


def test_short_work_shows_nothing(clock: Clock) -> None:
    terminal = Terminal()
    with ProgressBar("records", 10, stream=terminal, clock=clock) as progress:
        shown(progress, clock, (0.5, 5), (0.4, 5))
    assert terminal.getvalue() == ""


def test_long_work_shows_part_rate_and_time_left(clock: Clock) -> None:
    terminal = Terminal()
    with ProgressBar("records", 10_000, stream=terminal, clock=clock) as progress:
        shown(progress, clock, (0.5, 1_000), (1.5, 1_500))
        assert terminal.getvalue() == f"{CLEAR_LINE} 25% [#####---------------] 2,500 of 10,000 records  1,250 records/s  0:06 left"
    assert terminal.getvalue().endswith(f"left{CLEAR_LINE}")


def test_bar_is_written_a_few_times_per_second(clock: Clock) -> None:
    terminal = Terminal()
    with ProgressBar(MEGABYTES, stream=terminal, clock=clock) as progress:
        shown(progress, clock, (1.0, 1), *[(0.0625, 1)] * 8)
        assert terminal.getvalue().count(CLEAR_LINE) == 3


def test_work_without_a_total_shows_amount_and_rate(clock: Clock) -> None:
    terminal = Terminal()
    with ProgressBar(MEGABYTES, stream=terminal, clock=clock) as progress:
        shown(progress, clock, (2.0, 3_000_000))
        assert terminal.getvalue() == f"{CLEAR_LINE}3.0 MB  1.5 MB/s"


@pytest.mark.parametrize(("total", "left"), [(7_300, "2:01:20 left"), (20, "0:00 left"), (700, "11:20 left")])
def test_time_left_has_minutes_and_hours(clock: Clock, total: int, left: str) -> None:
    terminal = Terminal()
    progress = ProgressBar("records", total, stream=terminal, clock=clock)
    shown(progress, clock, (20.0, 20))
    assert terminal.getvalue().endswith(left)


def test_work_that_stands_has_no_time_left(clock: Clock) -> None:
    terminal = Terminal()
    shown(ProgressBar("records", 10, stream=terminal, clock=clock), clock, (2.0, 0))
    assert terminal.getvalue() == f"{CLEAR_LINE}  0% [--------------------] 0 of 10 records  0 records/s"


def test_output_that_is_no_terminal_shows_nothing(clock: Clock) -> None:
    stream, terminal = io.StringIO(), Terminal()
    for progress in (ProgressBar("records", stream=stream, clock=clock), ProgressBar("records", shown=False, stream=terminal, clock=clock)):
        with progress:
            shown(progress, clock, (5.0, 1))
    assert stream.getvalue() == terminal.getvalue() == ""
