"""The start-up output at a terminal."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence

import pytest

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
