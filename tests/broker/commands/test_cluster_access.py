"""How commands reach a cluster, and how they end if they cannot."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from odradek import Cluster
from odradek.broker.process.serving import seed_progress
from odradek.broker.process.terminal import CLEAR_LINE
from odradek.broker.seed_data.reading import read_entries
from tests.broker.commands.console import Console, Stream
from tests.broker.http_server import http_server
from tests.broker.process.serve_process import CLEAN, COMMAND


@pytest.fixture
def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"127.0.0.1:{free.getsockname()[1]}"


def test_cluster_that_does_not_answer_is_one_line(console: Console, free_address: str) -> None:
    for argv in (["topics"], ["groups"], ["consume", "a"], ["produce", "a"]):
        result = console.run(*argv, "--bootstrap-server", free_address, given=b"a")
        assert (result.code, result.output) == (1, "")
        hint = "give its address with --bootstrap-server or BOOTSTRAP_SERVERS"
        assert result.errors == f"odradek: no broker answers at {free_address}: Connection refused; {hint}\n"


def test_any_of_the_bootstrap_servers_suffices(shared_cluster: Cluster, console: Console, free_address: str) -> None:
    shared_cluster.create_topic("orders")
    servers = f"{free_address}, {shared_cluster.bootstrap_servers.split(',')[1]}"
    assert len(console.succeed("topics", "--bootstrap-server", servers, "--output", "json").json) == 1


@pytest.mark.parametrize("servers", ["nowhere", "host:port", "127.0.0.1:99999"])
def test_invalid_address_is_a_usage_error(console: Console, monkeypatch: pytest.MonkeyPatch, servers: str) -> None:
    monkeypatch.setenv("BOOTSTRAP_SERVERS", servers)
    result = console.run("topics")
    assert (result.code, result.output) == (2, "")
    assert result.errors.startswith("odradek: BOOTSTRAP_SERVERS: invalid ") and result.errors.count("\n") == 1
    result = console.run("topics", "--bootstrap-server", servers)
    assert result.code == 2 and "invalid" in result.errors and result.errors.count("\n") == 1


def test_invalid_command_config_is_a_usage_error(console: Console, tmp_path: Path) -> None:
    result = console.run("topics", "--command-config", str(tmp_path / "missing.properties"))
    assert (result.code, result.output) == (2, "")
    assert "cannot read --command-config" in result.errors


def test_server_of_another_protocol_is_an_error(console: Console) -> None:
    with http_server() as (host, port):
        result = console.run("topics", "--bootstrap-server", f"{host}:{port}")
    assert (result.code, result.output) == (1, "")
    assert "a response of 1213486160 bytes" in result.errors


@pytest.mark.parametrize(
    ("environ", "is_bold"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": ""}, True)]
)
def test_terminal_has_colours_unless_they_are_unwanted(
    shared_cluster: Cluster, console: Console, monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], is_bold: bool
) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    shared_cluster.create_topic("orders", 1)
    shared_cluster.produce("orders", [("k", "v")])
    assert ("\x1b" in console.succeed("topics", is_terminal=True).output) is is_bold
    assert ("\x1b" in console.succeed("consume", "orders", "--format", "%k\\n", is_terminal=True).output) is is_bold
    assert "\x1b" not in console.succeed("topics").output
    assert "\x1b" not in console.succeed("topics", "--output", "json", is_terminal=True).output


def test_reader_that_leaves_ends_the_command(shared_cluster: Cluster, console: Console) -> None:
    shared_cluster.create_topic("orders", 1)
    shared_cluster.produce("orders", ["x" * 1000] * 1000)
    command = [*COMMAND, "consume", "orders", "--follow"]
    environ = CLEAN | {"BOOTSTRAP_SERVERS": os.environ["BOOTSTRAP_SERVERS"]}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.read(1000) == b"x" * 1000
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0


def test_commands_import_no_broker(console: Console) -> None:
    code = "import sys; from odradek.broker.cli import main; main(['topics']); print(*sys.modules)"
    environ = CLEAN | {"BOOTSTRAP_SERVERS": os.environ["BOOTSTRAP_SERVERS"]}
    loaded = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True).stdout.split()
    assert not {"asyncio", "odradek.broker.cluster.state", "odradek.broker.connections.core", "odradek.broker.controls"} & set(loaded)


def test_long_work_shows_a_bar_on_a_terminal(
    shared_cluster: Cluster, console: Console, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("odradek.broker.process.terminal.FIRST_S", 0)
    monkeypatch.setattr("odradek.broker.process.terminal.PAUSE_S", 0)
    shared_cluster.create_topic("orders", 1)
    file = tmp_path / "orders.txt"
    file.write_text("x" * 99 + "\n" + "y\n")
    assert "100% [####################] 0.0 of 0.0 MB" in console.run("produce", "orders", "--file", str(file), shows_errors=True).errors
    assert "0.0 MB  " in console.run("produce", "orders", given=b"z\n", shows_errors=True).errors
    assert "100% [####################] 3 of 3 records" in console.run("consume", "orders", shows_errors=True).errors
    assert console.run("consume", "orders", shows_errors=True, is_terminal=True).errors == ""


def test_seed_data_shows_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("odradek.broker.process.terminal.FIRST_S", 0)
    monkeypatch.setattr(sys, "stderr", terminal := Stream(is_terminal=True))
    file = tmp_path / "orders.jsonl"
    file.write_text('{"value": 1}\n' * 10)
    with seed_progress([file]) as on_bytes:
        assert len(list(read_entries([file], on_bytes))) == 10
    assert "100% [####################]" in terminal.text and terminal.text.endswith(CLEAR_LINE)
    with seed_progress([]) as on_bytes:
        assert on_bytes is None
