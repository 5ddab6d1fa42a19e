"""`odradek serve --capture`: a file, a pipe, a full disk, and mistakes in the options."""

from __future__ import annotations

import signal
import subprocess
from io import BytesIO
from pathlib import Path

import pytest

from odradek.broker.cli import main
from odradek.broker.wire.exchange import Exchange
from odradek.broker.wire.reading.capture import CaptureReader
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from tests.broker.network.client import ask, connect
from tests.broker.process.serve_process import CLEAN, COMMAND, bootstrap_servers, running

ALL = MetadataRequest(topics=None)


def exchanges(data: bytes) -> list[tuple[str, str]]:
    found = CaptureReader(BytesIO(data)).entries()
    return [(entry.api, entry.listener) for entry in found if isinstance(entry, Exchange)]


def test_serve_writes_a_capture_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    options = ["--port", "0", "--capture", str(path), "--capture-addresses", "real", "--capture-max-bytes", "10m"]
    with running(options) as process:
        servers = bootstrap_servers(process).split(",")
        for server in servers:
            with connect(server) as client:
                ask(client, METADATA, 9, ALL)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert exchanges(path.read_bytes()) == [("Metadata", server) for server in servers]


def test_serve_writes_a_capture_to_a_pipe() -> None:
    options = ["serve", "--nodes", "1", "--port", "0", "--capture", "-"]
    with subprocess.Popen([*COMMAND, *options], env=CLEAN, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, b"")
        server = next(line for line in lines if line.startswith(b"bootstrap.servers=")).decode().strip().partition("=")[2]
        with connect(server) as client:
            ask(client, METADATA, 9, ALL)
        process.send_signal(signal.SIGTERM)
        captured, _ = process.communicate(timeout=30)
    assert exchanges(captured) == [("Metadata", "127.0.0.1:9092")]


def test_serve_continues_when_the_disk_is_full() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full")
    options = ["serve", "--nodes", "1", "--port", "0", "--capture", "-"]
    with (
        Path("/dev/full").open("wb") as full,
        subprocess.Popen([*COMMAND, *options], env=CLEAN, stdout=full, stderr=subprocess.PIPE, text=True) as process,
    ):
        assert process.stderr is not None
        log = ""
        while not (line := process.stderr.readline()).startswith("bootstrap.servers="):
            log += line
        with connect(line.strip().partition("=")[2]) as client:
            for _ in range(3):
                ask(client, METADATA, 9, ALL)
        process.send_signal(signal.SIGTERM)
        log += process.stderr.read()
    assert log.count("the capture - has ended: No space left on device; the brokers continue") == 1


def test_serve_refuses_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    for path, problem in (("/no/such/folder/a.pcapng", "No such file or directory"), (str(tmp_path), "it is a folder")):
        with running(["--port", "0", "--capture", path]) as process:
            _, log = process.communicate(timeout=30)
            assert process.returncode == 2
        assert f"odradek: {path}: {problem}" in log


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--capture-addresses", "real"], "have no effect without --capture FILE"),
        (["--capture", "-", "--capture-max-bytes", "1m"], "cannot begin another file"),
        (["--capture", "a.pcapng", "--capture-max-bytes", "10"], "use at least 65536"),
        (["--capture", "-", "--exec", "true"], "both write to the standard output"),
    ],
)
def test_serve_refuses_capture_options(options: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *options]) == 2
    assert message in capsys.readouterr().err
