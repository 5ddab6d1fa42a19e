"""`odradek trace --format` and the control `wire diagram`: diagrams of a running cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from confluent_kafka import Producer

from odradek import Cluster
from odradek.broker import cli
from odradek.broker.commands import trace
from odradek.broker.commands.trace_client import Missed
from odradek.broker.control_errors import InvalidControl
from odradek.broker.wire.diagrams.formats import FORMATS
from odradek.broker.wire.exchange import Entry
from tests.broker.wire.diagrams.scenes import story

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


def produce(cluster: Cluster) -> None:
    writer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "writer", "log_level": 0})
    writer.produce("orders", b"a")
    assert writer.flush(30) == 0


def test_diagram_shows_clients_nodes_and_arrows() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster:
        mark = cluster.wire.mark()
        produce(cluster)
        text = cluster.wire.diagram(since=mark)
        assert text.splitlines()[0].split() == ["writer", "node", "1"]
        assert "orders-0 at offset 0" in text
        produced = cluster.wire.diagram("mermaid", filter="api=Produce")
        assert produced.startswith("sequenceDiagram\n")
        assert "ApiVersions" not in produced
        assert ElementTree.fromstring(cluster.wire.diagram("svg")).tag.endswith("svg")
        assert cluster.wire.diagram("html").startswith("<!doctype html>")
        with pytest.raises(InvalidControl, match="there is no format 'svgg'; did you mean 'svg'"):
            cluster.wire.diagram("svgg")


def test_trace_draws_what_it_has_seen_until_ctrl_c(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def followed(*_: object) -> Iterator[Entry | Missed]:
        yield from story()
        yield Missed(7)
        raise KeyboardInterrupt

    monkeypatch.setattr(trace, "follow_record", followed)
    assert cli.main(["trace", "--format", "mermaid"]) == 0
    captured = capsys.readouterr()
    assert captured.out == FORMATS["mermaid"](story())
    assert captured.err == "odradek trace: 7 entries are missing, because the record keeps only the latest ones\n"


def test_format_with_options_of_lines_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["trace", "--format", "svg", "--json"]) == 2
    assert "--json and --verbose have no effect on a diagram" in capsys.readouterr().err


def test_explain_draws_a_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = tmp_path / "session.pcapng"
    with Cluster(nodes=1, topics={"orders": 1}, capture=capture) as cluster:
        produce(cluster)
    assert cli.main(["explain", str(capture), "--format", "text", "--filter", "api=Produce"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "writer" in lines[0] and "orders-0 at offset 0" in lines[-1]
    assert cli.main(["explain", str(capture), "--format", "text", "--verbose"]) == 2
    assert cli.main(["doctor", str(capture)]) == 0
    assert "no mistakes found" in capsys.readouterr().out


def test_doctor_refuses_a_file_that_is_no_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no capture")
    for name, problem in ((text, "is not a capture"), (tmp_path / "missing", "cannot read")):
        assert cli.main(["doctor", str(name)]) == 2
        assert problem in capsys.readouterr().err
