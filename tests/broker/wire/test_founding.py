"""The scenarios of the founding posts: each capture names the cause of the connection's end, for Wireshark and for `odradek explain`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from odradek import Cluster
from odradek.broker import cli
from odradek.broker.wire.exchange import Event, Exchange
from odradek.broker.wire.reading.capture import CaptureReader

from .captures import expert_items, needs_tshark, tshark, tshark_frames
from .founding import SCENARIOS

pytestmark = pytest.mark.sockets
WIRESHARK = "wireshark-4.0"
RESET = "TCP: Connection reset (RST)"
DEFECTS = {"Kafka: Dissected message does not end at the pdu length offset"}
"""A defect of the dissector: up to JoinGroup v5 and SyncGroup v3, it reads the length of bytes in two bytes instead of four."""
FLAGS = {"message.max.bytes": "FIN", "socket.request.max.bytes": "FIN RST"}
"""How the broker ends the connection of a scenario, by the setting; all others end with FIN."""


@pytest.fixture(scope="module", params=list(SCENARIOS))
def scenario(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    path = tmp_path_factory.mktemp("founding") / "capture.pcapng"
    SCENARIOS[request.param](path, as_version=WIRESHARK)
    return request.param, path


def test_founding_capture_names_the_cause(scenario: tuple[str, Path]) -> None:
    name, path = scenario
    with path.open("rb") as stream:
        entries = list(CaptureReader(stream).entries())
    (closed,) = [entry for entry in entries if isinstance(entry, Event) and entry.kind == "connection closed"]
    assert closed.fields["by"] == "broker"
    assert name.partition(" ")[0] in str(closed.fields["reason"])
    exchanges = [entry for entry in entries if isinstance(entry, Exchange)]
    assert [exchange.api for exchange in exchanges[:2]] == ["ApiVersions", "Metadata"]
    produced = [exchange for exchange in exchanges if exchange.api == "Produce"]
    assert [exchange.ended for exchange in produced] == ([closed.text] if produced else [])
    assert len(produced) == (name in ("message.max.bytes", "socket.request.max.bytes"))


FINDINGS = {"message.max.bytes": "losses with acks=0", "socket.request.max.bytes": "oversize requests"}
"""The finding of the doctor by the setting; all others are idle connections."""


def test_doctor_names_the_cause(scenario: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    name, path = scenario
    assert cli.main(["doctor", str(path), "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    setting = name.partition(" ")[0]
    assert found["name"] == FINDINGS.get(setting, "idle connections")
    assert setting in found["problem"]
    assert setting in found["settings"]


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
    items = set(expert_items(scenario[1]))
    assert items == ({RESET} if "RST" in FLAGS.get(scenario[0], "") else set())


@needs_tshark
def test_walk_of_librdkafka_is_read_by_wireshark(tmp_path: Path) -> None:
    """Creates a topic, produces to both leaders and consumes, in versions that the dissector knows."""
    path = tmp_path / "walk.pcapng"
    with Cluster(nodes=2, settings={"group.initial.rebalance.delay.ms": 0}, capture=path, as_version=WIRESHARK) as cluster:
        servers: dict[str, Any] = {"bootstrap.servers": cluster.bootstrap_servers}
        admin = AdminClient(servers)
        admin.create_topics([NewTopic("orders", 2, 1)])["orders"].result()
        producer = Producer(servers)
        for partition in (0, 1):
            producer.produce("orders", b"value", partition=partition)
        producer.flush()
        consumer = Consumer({**servers, "group.id": "billing", "auto.offset.reset": "earliest", "enable.partition.eof": True})
        consumer.subscribe(["orders"])
        ends = 0
        while ends < 2:
            message = consumer.poll(1)
            ends += message is not None and message.error() is not None
        consumer.close()
    assert set(expert_items(path)) - DEFECTS <= {RESET}
    frames = [frame for frame in tshark_frames(path) if frame.from_client]
    with path.open("rb") as stream:
        exchanges = [entry for entry in CaptureReader(stream).entries() if isinstance(entry, Exchange)]
    theirs = [start for frame in frames for start in zip(frame.keys, frame.versions, frame.correlation_ids, strict=True)]
    assert [(each.api_key, each.version, each.correlation_id) for each in exchanges] == theirs
    assert {"CreateTopics", "Produce", "Fetch", "JoinGroup", "SyncGroup"} <= {each.api for each in exchanges}
