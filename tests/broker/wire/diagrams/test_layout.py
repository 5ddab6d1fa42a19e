"""The lifelines, arrows and notes of diagrams, and the marks of repetitions."""

from __future__ import annotations

from odradek.broker.wire.diagrams.layout import Tone, diagram_of
from odradek.broker.wire.exchange import Entry, Event
from odradek.broker.wire.labels import MAX_NAMES, MAX_TEXT_LENGTH, request_label, response_label, shorten
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.metadata import (
    METADATA,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from tests.broker.wire.diagrams.scenes import asked_registry, at, fetched, heartbeat, produced, story
from tests.broker.wire.made_exchanges import exchange


def texts(entries: list[Entry], *, folded: bool = True) -> list[str]:
    diagram = diagram_of(entries)
    return [step.text for step in (diagram.distinct_steps if folded else diagram.steps)]


def test_lifelines_are_clients_then_nodes() -> None:
    found = diagram_of(story()).lifelines
    assert [(each.name, each.detail, each.is_node) for each in found] == [
        ("reader", "", False),
        ("writer", "librdkafka 2.16.1", False),
        ("node 1", "", True),
        ("node 2", "", True),
    ]


def test_connections_of_one_client_share_a_lifeline() -> None:
    first = produced(1, 0, software="")
    entries = [first, produced(2, 1), produced(3, 2, connection=7, node=2), produced(4, 3, connection=8, peer="10.0.0.1:5")]
    assert [each.name for each in diagram_of(entries).lifelines] == ["writer", "writer", "node 1", "node 2"]


def test_software_is_known_from_the_first_request_on() -> None:
    request = ApiVersionsRequest(client_software_name="librdkafka", client_software_version="2.16.1")
    asked = exchange(API_VERSIONS, 3, request, client_id="writer", connection=5)
    assert [(each.name, each.detail) for each in diagram_of([asked, produced(2, 1)]).lifelines[:-1]] == [("writer", "librdkafka 2.16.1")]


def test_connection_without_client_id_is_named_by_its_address() -> None:
    found = diagram_of([produced(1, 0, client_id=None, node=None, listener="10.0.0.9:9092")]).lifelines
    assert [each.name for each in found] == ["127.0.0.1:50000", "10.0.0.9:9092"]


def test_steps_are_in_the_order_of_time() -> None:
    assert texts(story()) == [
        "Fetch v11 orders-1",
        "Produce v11 orders-0 acks=all",
        "orders-0 at offset 2",
        "Produce v11 orders-0 acks=all",
        "fault 3: error for Produce",
        "NOT_LEADER_OR_FOLLOWER",
        "leader: node 2 leads orders-0",
        "waited 500 ms for records of orders-1",
        "orders-1: 2 records from offset 0",
        "Heartbeat v4 billing",
        "REBALANCE_IN_PROGRESS",
        "Produce v11 orders-0 acks=all",
        "FIN by the broker: message.max.bytes is 1048588",
        "Produce v11 orders-0 acks=all",
        "not answered yet",
        "control: node stop 1",
    ]


def test_tones_tell_errors_faults_waits_and_events() -> None:
    steps = {step.text: step for step in diagram_of(story()).steps}
    assert steps["NOT_LEADER_OR_FOLLOWER"].tone is Tone.ERROR
    assert steps["fault 3: error for Produce"].tone is Tone.FAULT
    assert steps["waited 500 ms for records of orders-1"].tone is Tone.WAIT
    assert steps["FIN by the broker: message.max.bytes is 1048588"].lifelines == (1, 2)
    assert steps["control: node stop 1"].lifelines == (0, 3)


def test_repetitions_are_folded_into_a_note() -> None:
    beats: list[Entry] = [heartbeat(number, number) for number in range(5)]
    assert texts(beats) == ["Heartbeat v4 billing", "ok", "the same 4 more times"]
    assert texts(beats, folded=False).count("Heartbeat v4 billing") == 5


def test_repetitions_of_other_clients_do_not_interrupt_a_run() -> None:
    entries: list[Entry] = []
    for number in range(4):
        entries += [heartbeat(2 * number, 10 * number), produced(1, 10 * number)]
    assert texts(entries).count("the same 3 more times") == 2


def test_changed_exchange_ends_a_run() -> None:
    entries: list[Entry] = [heartbeat(number, number, error=27 if number == 3 else 0) for number in range(7)]
    ok, error, same = ["Heartbeat v4 billing", "ok"], ["Heartbeat v4 billing", "REBALANCE_IN_PROGRESS"], "the same 2 more times"
    assert texts(entries) == [*ok, same, *error, *ok, same]


def test_waits_of_different_lengths_are_repetitions() -> None:
    entries: list[Entry] = [fetched(number, 1000 * number, answered=at(1000 * number + 10 * number)) for number in range(3)]
    assert texts(entries)[-1] == "the same 2 more times"


def test_end_of_a_connection_is_told_once() -> None:
    text = "FIN by the broker: message.max.bytes is 1048588"
    closed = [
        Event(sequence=9, at=at(702), kind="connection closed", node=1, connection=1, text=each) for each in (text, "FIN by the client")
    ]
    assert texts([*story()[5:6], *closed]) == ["Produce v11 orders-0 acks=all", text, "FIN by the client"]


def test_event_without_lifelines_is_left_out() -> None:
    assert texts([Event(sequence=1, at=at(0), kind="clock", text="frozen")]) == []


def test_labels_name_few_of_many_subjects() -> None:
    topics = [MetadataRequestTopic(name=f"topic-{number}") for number in range(10)]
    request = MetadataRequest(topics=topics)
    partitions = [MetadataResponsePartition(partition_index=0, leader_id=2, replica_nodes=[2], isr_nodes=[2])]
    response = MetadataResponse(brokers=[], topics=[MetadataResponseTopic(name="orders", partitions=partitions)])
    found = exchange(METADATA, 9, request, response)
    assert request_label(found) == f"Metadata v9 topic-0 topic-1 topic-2 and {10 - MAX_NAMES + 1} more"
    assert response_label(found) == "0 nodes, orders-0 at node 2"


def test_text_is_shortened_and_printable() -> None:
    assert shorten("a\n\x1b\u202e\U000e0001") == "a\\x0a\\x1b\\u202e\\U000e0001"
    assert shorten("a" * 200) == "a" * (MAX_TEXT_LENGTH - 1) + "…"
    assert len(shorten("\x00" * 1_000_000)) == MAX_TEXT_LENGTH


def test_schema_registry_is_a_lifeline_behind_the_nodes() -> None:
    entries: list[Entry] = [
        produced(1, 0),
        asked_registry(2, 1, "/schemas/ids/1", 200, id=1, software="python-requests/2.32"),
        asked_registry(3, 2, "/subjects", 200),
        produced(4, 3, node=None, listener="z.example:9092", connection=8),
    ]
    diagram = diagram_of(entries)
    names = ["writer", "python-requests/2.32", "127.0.0.1", "node 1", "z.example:9092", "schema registry"]
    assert [each.name for each in diagram.lifelines] == names
    assert [each.is_node for each in diagram.lifelines] == [False] * 3 + [True] * 3
    steps = [step for step in diagram.steps if step.sequence in (2, 3)]
    assert [(step.lifelines, step.text, step.is_response) for step in steps] == [
        ((1, 5), "GET /schemas/ids/1", False), ((5, 1), "200 id 1", True),
        ((2, 5), "GET /subjects", False), ((5, 2), "200", True),
    ]  # fmt: skip


def test_answer_of_the_registry_shows_error_fault_and_delay() -> None:
    missing = asked_registry(1, 0, "/schemas/ids/7", 404, id=7, error_code=40403, message="Schema 7 not found")
    delayed = asked_registry(2, 1, "/subjects", 503, error_code=503, message="x" * 60, fault="fault 1: status=503", delay_ms=40)
    found = [(step.text, step.tone) for step in diagram_of([missing, delayed]).steps]
    assert found == [
        ("GET /schemas/ids/7", Tone.PLAIN),
        ("404 40403 Schema 7 not found", Tone.ERROR),
        ("GET /subjects", Tone.PLAIN),
        ("fault 1: status=503", Tone.FAULT),
        ("waited 40 ms", Tone.WAIT),
        (f"503 {'x' * 49}…", Tone.ERROR),
    ]


def test_equal_requests_to_the_schema_registry_are_folded() -> None:
    asked = [asked_registry(number, number, "/subjects", 200) for number in range(4)]
    assert texts([*asked]) == ["GET /subjects", "200", "the same 3 more times"]
