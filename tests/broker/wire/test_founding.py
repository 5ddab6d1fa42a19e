"""The scenarios of the founding posts: each capture names the cause of the connection's end, for Wireshark and for `odradek explain`."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.wire.exchange import Event, Exchange
from odradek.broker.wire.reading.capture import Capture

from .captures import expert_items, needs_tshark, tshark
from .founding import SCENARIOS

pytestmark = pytest.mark.sockets
FLAGS = {"message.max.bytes": "FIN", "socket.request.max.bytes": "FIN RST"}
"""How the broker ends the connection of a scenario, by the setting; all others end with FIN."""


@pytest.fixture(scope="module", params=list(SCENARIOS))
def scenario(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    path = tmp_path_factory.mktemp("founding") / "capture.pcapng"
    SCENARIOS[request.param](path)
    return request.param, path


def test_founding_capture_names_the_cause(scenario: tuple[str, Path]) -> None:
    name, path = scenario
    with path.open("rb") as stream:
        entries = list(Capture(stream).entries())
    (closed,) = [entry for entry in entries if isinstance(entry, Event) and entry.kind == "connection closed"]
    assert closed.fields["by"] == "broker"
    assert name.partition(" ")[0] in str(closed.fields["reason"])
    exchanges = [entry for entry in entries if isinstance(entry, Exchange)]
    assert [exchange.api for exchange in exchanges[:2]] == ["ApiVersions", "Metadata"]
    produced = [exchange for exchange in exchanges if exchange.api == "Produce"]
    assert [exchange.ended for exchange in produced] == ([closed.text] if produced else [])
    assert len(produced) == (name in ("message.max.bytes", "socket.request.max.bytes"))


@needs_tshark
def test_founding_capture_shows_the_end_in_wireshark(scenario: tuple[str, Path]) -> None:
    name, path = scenario
    fields = ("-T", "fields", "-E", "separator=|", "-e", "tcp.flags.fin", "-e", "tcp.flags.reset", "-e", "frame.comment")
    ending = [
        line.split("|")
        for line in tshark(path, "-Y", "tcp.srcport==9092 && (tcp.flags.fin==1 || tcp.flags.reset==1)", *fields).splitlines()
    ]
    assert " ".join("FIN" if fin in ("1", "True") else "RST" for fin, _, _ in ending) == FLAGS.get(name, "FIN")
    assert ending[0][2].startswith("closed by the broker: ")
    assert name.partition(" ")[0] in ending[0][2]


@needs_tshark
def test_founding_capture_has_no_warnings(scenario: tuple[str, Path]) -> None:
    items = expert_items(scenario[1])
    unknown = {text: count for text, count in items.items() if "Unsupported " not in text and " API key" not in text}
    assert {text for text in unknown if "Connection reset (RST)" not in text} == set()
