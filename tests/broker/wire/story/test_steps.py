"""The steps of a story."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.broker.wire.exchange import Event
from odradek.broker.wire.story.steps import Names, steps_of
from tests.broker.wire.diagrams.scenes import asked_registry, at, fetched, heartbeat, hostile_story, produced, story


def event(kind: str, text: str, **fields: str) -> Event:
    return Event(sequence=1, at=at(0), kind=kind, node=1, connection=9, text=text, fields=fields)


def test_heartbeats_and_empty_fetches_are_background() -> None:
    steps = steps_of([produced(1, 0), heartbeat(2, 1), heartbeat(3, 2, error=27), fetched(4, 3), fetched(5, 4, b"a")])
    assert [(step.text, step.is_background) for step in steps] == [
        ("Produce v11 orders-0 acks=all", False),
        ("Heartbeat billing", True),
        ("Heartbeat v4 billing", False),
        ("Fetch without records", True),
        ("Fetch v11 orders-1", False),
    ]
    assert [step.result for step in steps] == [
        "orders-0 at offset 1",
        "",
        "✗ REBALANCE_IN_PROGRESS",
        "",
        "orders-1: 1 record from offset 0",
    ]


def test_clients_and_nodes_are_named() -> None:
    (step,) = steps_of([produced(1, 0, software="confluent-kafka-python 2.16.1-rdkafka-2.16.0")])
    assert (step.client, step.node) == ("writer", "node 1")
    names = Names([produced(1, 0, software="confluent-kafka-python 2.16.1-rdkafka-2.16.0")])
    assert names.software == {"writer": "librdkafka 2.16.0"}


@pytest.mark.parametrize(
    ("told", "text", "result", "is_background"),
    [
        (event("connection opened", "...", peer="127.0.0.1:1"), "connect", "", True),
        (event("connection closed", "FIN by the client", by="client"), "disconnect", "", True),
        (event("connection closed", "FIN by the broker: why", by="broker"), "✗ FIN by the broker: why", "", False),
        (event("handshake failed", "why"), "TLS handshake", "✗ why", False),
        (event("clock", "the time moves"), "clock: the time moves", "", False),
        (event("group", "Group billing: m-0090dd8b-d20c-49b3-9edd-8d45b00771ef joins"), "Group billing: m-0090dd8b joins", "", False),
    ],
)
def test_events_are_steps(told: Event, text: str, result: str, is_background: bool) -> None:
    (step,) = steps_of([told])
    assert (step.text, step.result, step.is_background) == (text, result, is_background)
    assert step.begins_era == (told.kind == "clock")


def test_end_of_a_connection_is_told_once() -> None:
    end = "FIN by the broker: why"
    closed = Event(sequence=2, at=at(1), kind="connection closed", node=1, connection=1, text=end, fields={"by": "broker"})
    (step,) = steps_of([produced(1, 0, answers=False, ended=end), closed])
    assert step.result == f"✗ {end}"


def test_hostile_entries_are_printable_steps() -> None:
    assert len(steps_of(story())) == len(story())
    for step in steps_of(hostile_story()):
        assert (step.text + step.result + step.client).isprintable()


def test_fault_is_told_once() -> None:
    steps = steps_of([event("control", "adding a fault"), replace(event("fault", "added fault 1: api=Produce"), sequence=2)])
    assert [step.text for step in steps] == ["fault: added fault 1: api=Produce"]


def test_requests_to_the_schema_registry_have_a_client() -> None:
    refused = asked_registry(1, 0, "/subjects", 503, software="python-requests/2.32", fault="fault 1: status=503")
    steps = steps_of([refused, asked_registry(2, 1, "/schemas/ids/1", 200, id=1)])
    assert [(step.client, step.node, step.text, step.result) for step in steps] == [
        ("python-requests/2.32", "schema registry", "GET /subjects", "✗ 503; [fault 1: status=503]"),
        ("127.0.0.1", "schema registry", "GET /schemas/ids/1", "200 id 1"),
    ]
    leader = Event(sequence=3, at=at(2), kind="leader", node=1, text="node 1 leads orders-0")
    assert Names([refused, leader]).client(leader) == ""
