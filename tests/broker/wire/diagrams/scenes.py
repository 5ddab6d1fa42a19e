"""Entries for tests of diagrams: a producer and a consumer, two nodes, an error, a fault, a wait and the end of a connection."""

from __future__ import annotations

from typing import Any

from odradek.broker.wire.exchange import REGISTRY_REQUEST, Entry, Event, Exchange, Moment
from odradek.protocol.messages.fetch import (
    FETCH,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from tests.broker.harness import a_batch, produce_request
from tests.broker.wire.made_exchanges import exchange

START_MS = 1_700_000_000_000.0
HOSTILE = "<script>alert(1)</script>\"'&;#\n\x00\x1b[31m\u202e%%{init}%% end"


def at(milliseconds: float) -> Moment:
    return Moment(START_MS + milliseconds, START_MS + milliseconds)


def produced(sequence: int, milliseconds: float, error: int = 0, *, topic: str = "orders", answers: bool = True, **values: Any) -> Exchange:
    """Returns a Produce of the connection 1 to node 1, which is answered after a millisecond."""
    partition = PartitionProduceResponse(index=0, error_code=error, base_offset=-1 if error else sequence)
    response = ProduceResponse(responses=[TopicProduceResponse(name=topic, partition_responses=[partition])])
    fixed: dict[str, Any] = {"client_id": "writer", "software": "librdkafka 2.16.1", "sequence": sequence, "received": at(milliseconds)}
    fixed |= {"answered": at(milliseconds + 1)}
    return exchange(PRODUCE, 11, produce_request(topic, a_batch(b"x")), response if answers else None, **(fixed | values))


def fetched(sequence: int, milliseconds: float, *values: bytes, **others: Any) -> Exchange:
    """Returns a Fetch of the connection 2 to node 2, which has waited for half a second."""
    request = FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        max_bytes=1000,
        topics=[FetchTopic(topic="orders", partitions=[FetchPartition(partition=1, fetch_offset=0, partition_max_bytes=1000)])],
    )
    records = a_batch(*values) if values else None
    partition = PartitionData(partition_index=1, high_watermark=0, aborted_transactions=None, records=records)
    response = FetchResponse(responses=[FetchableTopicResponse(topic="orders", partitions=[partition])])
    fixed: dict[str, Any] = {"client_id": "reader", "connection": 2, "node": 2, "sequence": sequence, "received": at(milliseconds)}
    fixed |= {"answered": at(milliseconds + 500), "waits": ("records of orders-1",)}
    return exchange(FETCH, 11, request, response, **(fixed | others))


def heartbeat(sequence: int, milliseconds: float, error: int = 0, **values: Any) -> Exchange:
    request = HeartbeatRequest(group_id="billing", generation_id=1, member_id="m")
    fixed: dict[str, Any] = {"client_id": "reader", "connection": 2, "node": 2, "sequence": sequence, "received": at(milliseconds)}
    fixed |= {"answered": at(milliseconds)}
    return exchange(HEARTBEAT, 4, request, HeartbeatResponse(throttle_time_ms=0, error_code=error), **(fixed | values))


def asked_registry(sequence: int, milliseconds: float, path: str, status: int, **fields: str | int) -> Event:
    """Returns a request to the schema registry with its answer."""
    given: dict[str, str | int] = {"method": "GET", "path": path, "status": status, "peer": "127.0.0.1:50000", **fields}
    return Event(sequence=sequence, at=at(milliseconds), kind=REGISTRY_REQUEST, text=f"GET {path}: {status}", fields=given)


def story() -> list[Entry]:
    """Returns a scene with everything that a diagram shows."""
    return [
        fetched(1, 0, b"a", b"b"),
        produced(2, 10),
        produced(3, 20, error=6, faults=("fault 3: error for Produce",)),
        Event(sequence=4, at=at(30), kind="leader", node=2, text="node 2 leads orders-0"),
        heartbeat(5, 600, error=27),
        produced(6, 700, answers=False, ended="FIN by the broker: message.max.bytes is 1048588"),
        produced(7, 800, answers=False, answered=None),
        Event(sequence=8, at=at(900), kind="control", text="node stop 1"),
    ]


def hostile_story() -> list[Entry]:
    """Returns exchanges and events with hostile names in all places."""
    return [
        produced(1, 0, topic=HOSTILE, client_id=HOSTILE, software=HOSTILE, faults=(HOSTILE,), waits=(HOSTILE,), ended=HOSTILE),
        fetched(2, 1, node=None, listener=HOSTILE, client_id=None, peer=HOSTILE),
        asked_registry(9, 2, HOSTILE, 404, message=HOSTILE, software=HOSTILE, fault=HOSTILE, peer=HOSTILE),
        Event(sequence=3, at=at(2), kind=HOSTILE, text=HOSTILE, fields={HOSTILE: HOSTILE}),
    ]
