"""`odradek explain` prints captures: lines, JSON, filters, truncated captures, and files that are none."""

from __future__ import annotations

import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from odradek.broker.cli import main
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from tests.broker.wire.captures import CapturedWorld

VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")
BEAT = HeartbeatRequest(group_id="billing", generation_id=1, member_id="m")


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    world = CapturedWorld()
    client = world.client()
    client.call(API_VERSIONS, 3, VERSIONS)
    client.call(HEARTBEAT, 4, BEAT)
    client.disconnect()
    return world.save(tmp_path / "orders.pcapng")


def test_explain_prints_a_line_for_each_entry(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(capture)]) == 0
    opened, versions, beat, closed = capsys.readouterr().out.splitlines()
    assert "connection opened" in opened and closed.endswith("connection closed: FIN by the client")
    assert "ApiVersions v3 (1)" in versions
    assert "Heartbeat v4 (1) billing" in beat and "NOT_COORDINATOR" in beat


def test_explain_json_has_the_promised_fields(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(capture), "--json", "--filter", "api=*"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["api"], each["version"], each["correlation_id"], each["error"]) for each in found] == [
        ("ApiVersions", 3, 1, None),
        ("Heartbeat", 4, 1, "NOT_COORDINATOR"),
    ]


def test_explain_verbose_prints_fields(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(capture), "--verbose", "--filter", "error"]) == 0
    assert "member_id: m" in capsys.readouterr().out


def test_explain_reads_a_pipe(capture: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(capture.read_bytes())))
    assert main(["explain", "-"]) == 0
    assert "Heartbeat" in capsys.readouterr().out


def test_explain_truncated_capture_prints_one_line_more(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture.write_bytes(capture.read_bytes()[:-30])
    assert main(["explain", str(capture)]) == 0
    shown = capsys.readouterr()
    assert "Heartbeat v4" in shown.out
    assert len(shown.err.splitlines()) == 1
    assert shown.err.startswith("odradek: the capture is truncated at byte ")


@pytest.mark.parametrize("content", [b"", b"no capture at all", b"\x7fELF" + bytes(100)])
def test_explain_other_file_exits_with_2(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_bytes(content)
    assert main(["explain", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err == (
        f"odradek: {tmp_path / 'file'} is not a capture: it begins neither like a pcap file nor like a pcapng file\n"
    )


def test_explain_unreadable_file_exits_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(tmp_path / "none")]) == 2
    assert "No such file" in capsys.readouterr().err
    assert main(["explain", str(tmp_path)]) == 2


def test_explain_misspelt_filter_exits_with_2(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(capture), "--filter", "appi=Produce"]) == 2
    assert "api" in capsys.readouterr().err


def test_explain_ends_quietly_when_its_reader_does(capture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def write(self, text: str) -> None:
            raise BrokenPipeError

        def isatty(self) -> bool:
            return False

    monkeypatch.setattr(sys, "stdout", Closed())
    assert main(["explain", str(capture)]) == 0
