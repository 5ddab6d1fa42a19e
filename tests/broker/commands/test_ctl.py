"""`odradek ctl`: commands on a running cluster, exit codes, errors and output."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from odradek import Cluster
from odradek.broker.cli import main
from odradek.broker.commands import ctl
from odradek.broker.controls.declaration import CONTROLS
from tests.broker.commands.outcome import CommandOutcome, Run, outcome_of
from tests.broker.process.serve_process import CLEAN, COMMAND


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"orders": 2}, control="127.0.0.1:0", control_token="s3cret") as cluster:
        yield cluster


@pytest.fixture
def run(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> Run:
    environ = {"ODRADEK_CONTROL": str(cluster.control), "ODRADEK_CONTROL_TOKEN": "s3cret"}

    def run(*arguments: str, environ: Mapping[str, str] = environ) -> CommandOutcome:
        return outcome_of(ctl.run(arguments, environ), capsys)

    return run


def test_commands_change_the_cluster(cluster: Cluster, run: Run) -> None:
    assert run("node", "stop", "2") == (0, "", "")
    assert "node 2 at" in repr(cluster) and "(stopped)" in repr(cluster)
    assert run("node", "start", "--node=2") == (0, "", "")
    assert run("topic", "create", "compacted", "1", "--configs", "cleanup.policy=compact").code == 0
    assert cluster.topics()[-1].configs == {"cleanup.policy": "compact"}
    positions = run("record", "produce", "orders", "a", '{"key": "k", "value": {"base64": "/w=="}}', "--partition", "1")
    assert positions.output == "PARTITION  OFFSET\n1          0\n1          1\n"
    assert [(record.key, record.value) for record in cluster.records("orders")] == [(None, b"a"), (b"k", b"\xff")]
    assert run("clock", "advance", "10m").output.startswith("now        2")


def test_arguments_after_two_hyphens_are_values(cluster: Cluster, run: Run) -> None:
    assert run("record", "produce", "hyphens", "--", "--help", "--output", "-1").code == 0
    assert [record.value for record in cluster.records("hyphens")] == [b"--help", b"--output", b"-1"]


def test_json_output_is_that_of_the_listener(cluster: Cluster, run: Run) -> None:
    cluster.produce("json", ["a"])
    (record,) = json.loads(run("--output", "json", "record", "list", "json").output)
    assert (record["value"], record["offset"]) == ("a", 0)
    assert json.loads(run("record", "list", "json", "--limit", "0", "--output=json").output) == []


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("node stpo 2", "there is no command 'node stpo'; did you mean 'node stop'?"),
        ("node stop", "node: is required (the id of a node)"),
        ("node stop two", "node: must be an integer, not 'two'"),
        ("node stop 7", "node: there is no node 7; use one of 1, 2"),
        ("node stop 1 2", "unexpected argument '2'"),
        ("node stop 1 --gracefull", "--gracefull: there is no option '--gracefull'"),
        ("record list ordrs", "topic: there is no topic 'ordrs'; did you mean 'orders'?"),
        ("record wait orders 1 --timeout-s 500ms", "timeout_s: must be a number, not '500ms'; the unit is s, so write 0.5"),
        ("clock advance 10parsecs", "duration: invalid duration '10parsecs'; use a number with ms, s, m, h, d, w, such as 10m"),
        ("clock show --output yaml", "--output: there is no format 'yaml'; use one of table, json"),
        ("clock show --control", "--control: needs a value"),
        ("clock show --control 9099", "invalid address '9099': use HOST:PORT"),
        ("clock show --control-token wrong", "this listener needs the header Authorization: Bearer"),
        ("clock show --control-token a\nb", "--control-token: "),
        ("record list \udcff", "the arguments must be UTF-8"),
    ],
)
def test_mistake_in_the_call_exits_with_two(run: Run, command: str, message: str) -> None:
    code, output, errors = run(*command.split(" "))
    assert (code, output) == (2, "")
    assert errors.startswith(f"odradek ctl: {message}")
    assert errors.count("\n") == 1


def test_command_without_an_address_asks_the_default_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("odradek.broker.commands.options.DEFAULT_CONTROL", "127.0.0.1:2")
    code, _, errors = run("clock", "show", environ={})
    assert (code, errors.partition(": ")[2].partition(":2")[0]) == (1, "no control listener answers at 127.0.0.1")


def test_wait_that_times_out_exits_with_one(run: Run) -> None:
    code, _, errors = run("record", "wait", "absent", "5", "--timeout-s", "0")
    assert (code, errors) == (1, "odradek ctl: topic 'absent' does not exist, so it has 0 of 5 records (waited 0 s)\n")


def test_cluster_that_is_unreachable_exits_with_one(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    code, _, errors = run("clock", "show", "--control", address)
    hint = f"start one with: odradek serve --control {address}"
    assert (code, errors) == (1, f"odradek ctl: no control listener answers at {address}: Connection refused; {hint}\n")


def test_other_server_is_not_mistaken_for_a_cluster(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:

        def answer() -> None:
            for response in (b"HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nno!", b"220 mail\r\n", b""):
                connection, _ = other.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(response)

        thread = threading.Thread(target=answer)
        thread.start()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        code, _, errors = run("clock", "show", "--control", address)
        assert (code, errors) == (2, "odradek ctl: the answer is no control listener's (HTTP status 404)\n")
        for _ in range(2):
            code, _, errors = run("clock", "show", "--control", address)
            assert code == 1
            assert errors.startswith(f"odradek ctl: no control listener answers at {address}: ")
        thread.join()


def test_path_of_a_file_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert ctl._absolute(Path("state")) == tmp_path / "state"
    assert ctl._absolute("state") == "state"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["node", "--help"], ["node", "stop", "--help"], ["node", "stop", "2", "-h"]])
def test_help_needs_no_cluster(run: Run, arguments: list[str]) -> None:
    code, output, errors = run(*arguments, environ={})
    assert (code, errors) == (0, "")
    assert output.startswith("usage: odradek ctl ")
    assert "--control HOST:PORT" in output


def test_main_passes_the_arguments_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ctl", "nod"]) == 2
    assert "there is no command 'nod'; did you mean 'node'?" in capsys.readouterr().err
    assert main([]) == 0
    assert "ctl" in capsys.readouterr().out


def test_command_config_names_the_cluster_and_its_token(cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    properties = tmp_path / "client.properties"
    properties.write_text(f"security.protocol=PLAINTEXT\nodradek.control={cluster.control}\nodradek.control.token=s3cret\n")
    assert ctl.run(["clock", "show", "--command-config", str(properties)], {}) == 0
    assert ctl.run(["clock", "show", "--command-config", str(properties), "--control-token", "wrong"], {}) == 2
    assert ctl.run(["clock", "show", "--command-config", str(tmp_path / "none")], {}) == 2
    assert "--command-config: cannot read" in capsys.readouterr().err


def test_table_with_a_closed_reader_exits_quietly(cluster: Cluster) -> None:
    command = [*COMMAND, "ctl", "topic", "list", "--control", str(cluster.control), "--control-token", "s3cret"]
    with subprocess.Popen(command, env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(30) in (0, 1)


def test_command_imports_no_event_loop() -> None:
    code = "import sys; from odradek.broker.commands import ctl; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], env=CLEAN, capture_output=True, text=True, check=True).stdout.split()
    assert not {"uvloop", "odradek.broker.embedding.cluster", "odradek.broker.network.server", "odradek.broker.controls.http"} & set(loaded)
    assert len(CONTROLS) > 10
