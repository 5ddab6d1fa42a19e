"""`odradek explore`: commands in any language, with their exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from odradek.broker import cli
from odradek.broker.exploring.table import FAULTS

pytestmark = [pytest.mark.sockets, pytest.mark.clients, pytest.mark.timeout(120)]

SERVICE = """
import os, sys
from confluent_kafka import Consumer, Producer

producer = Producer({"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"], "log_level": 0, "enable.idempotence": "idempotent" in sys.argv})
producer.produce("orders", b"book")
producer.flush(20)
if "blind" in sys.argv:
    sys.exit()
group = {"group.id": "check", "auto.offset.reset": "earliest", "log_level": 0}
reader = Consumer({"bootstrap.servers": os.environ["BOOTSTRAP_SERVERS"], **group})
reader.subscribe(["orders"])
assert reader.poll(20).value() == b"book"
again = reader.poll(0.3)
assert again is None, "the order is there twice"
"""


@pytest.fixture
def command(tmp_path: Path) -> str:
    script = tmp_path / "service.py"
    script.write_text(SERVICE)
    return f"{sys.executable} {script}"


def test_command_that_fails_with_a_fault_has_exit_code_1(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost = "Produce#1@producer:lost-response"
    page = tmp_path / "page.html"
    code = cli.main(
        ["explore", "--exec", command, "--topic", "orders:1", "--only", lost, "--report", str(page), "--artifacts", str(tmp_path)]
    )
    output = capsys.readouterr().out
    assert code == 1
    assert "  FAILED 3/3  producer: the response to Produce 1 was lost" in output
    assert "AssertionError: the order is there twice" in output
    assert f"reproduce: odradek explore --only '{lost}' --exec ..." in output
    assert "Sequence diagram" in page.read_text()
    assert len(list(tmp_path.glob("*lost-response.pcapng"))) == 1


def test_command_that_survives_has_exit_code_0(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    only = ["--only", "Produce#1@producer:lost-response", "--output", "json"]
    assert cli.main(["explore", "--exec", f"{command} idempotent", "--topic", "orders:1", *only]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["passed"], found["failures"]) == (1, [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--exec", "false"], "not explored: it fails without faults"),
        (["--exec", "true"], "not explored: it sends no request to a cluster"),
        (["--exec", "sleep 60", "--timeout", "0.2s"], "not explored: it does not end without faults"),
        (["--exec", "true", "--only", "Produce"], "must have the form API#NUMBER@ROLE:FAULT"),
        (["--exec", "true", "--also", "records-expires"], "there is no fault 'records-expires'; the faults are lost-response, "),
        (["--exec", "/no/such/program"], "/no/such/program: No such file or directory"),
        (["--exec", "true", "--topic", "orders:x"], "orders:x"),
    ],
)
def test_command_that_cannot_be_explored_has_code_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explore", *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.out + captured.err


def test_faults_are_left_out_and_rare_ones_are_added(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    left_out = [f"--without={name}" for name in FAULTS if name != "refused"]
    arguments = ["explore", "--exec", f"{command} blind", "--topic", "orders:1", "--output", "json", *left_out]
    for also, runs in (([], 0), (["--also=refused"], 1)):
        assert cli.main([*arguments, *also]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["runs"], found["passed"]) == (runs, runs)


INTERRUPTING = """
import os, pathlib, signal, sys

with pathlib.Path("runs").open("a") as runs:
    runs.write("x")
if pathlib.Path("runs").stat().st_size == 6:
    os.kill(os.getppid(), signal.SIGINT)
"""


@pytest.mark.slow
def test_ctrl_c_prints_what_was_found_and_has_exit_code_130(tmp_path: Path) -> None:
    (tmp_path / "service.py").write_text(INTERRUPTING + SERVICE)
    program = [sys.executable, "-m", "odradek", "explore", "--topic", "orders:1", "--exec", f"{sys.executable} service.py"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3] / ".dev")}
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert "  FAILED 1/1  producer-1: the response to Produce 1 was lost" in done.stdout
