"""Exchanges and events as the record contains them, for tests of what shows them."""

from __future__ import annotations

from typing import Any

from odradek.broker.wire.exchange import Event, Exchange, Frame, Moment, client_id_of
from odradek.protocol.frame import encode_request, encode_response
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from odradek.protocol.schema import Api, Message
from tests.broker.harness import a_batch, produce_request

THEN = Moment(1000.0, 2000.0)


def frame_of(parts: list[Any], head_bytes: int = 4096) -> Frame:
    data = b"".join(parts)[4:]
    return Frame(data[:head_bytes], len(data))


def exchange(
    api: Api, version: int, request: Message, response: Message | None = None, *, head_bytes: int = 4096, **values: Any
) -> Exchange:
    """Returns an exchange with the correlation id 7 of the client "app"."""
    answer = None if response is None else frame_of(encode_response(api, version, 7, response), head_bytes)
    return an_exchange(frame_of(encode_request(api, version, 7, "app", request), head_bytes), answer, **values)


def an_exchange(request: Frame, response: Frame | None = None, **values: Any) -> Exchange:
    fixed: dict[str, Any] = {
        "sequence": 1,
        "node": 1,
        "listener": "PLAINTEXT",
        "connection": 1,
        "peer": "127.0.0.1:50000",
        "client_id": client_id_of(request),
        "software": "",
        "principal": "User:ANONYMOUS",
        "received": THEN,
        "answered": THEN,
        "written": THEN,
    }
    return Exchange(**(fixed | values), request_frame=request, response_frame=response)


def a_produce(code: int = 0, **values: Any) -> Exchange:
    partitions = [PartitionProduceResponse(index=0, error_code=code, base_offset=0)]
    response = ProduceResponse(responses=[TopicProduceResponse(name="orders", partition_responses=partitions)])
    return exchange(PRODUCE, 9, produce_request("orders", a_batch(b"x")), response, **values)


def a_heartbeat(**values: Any) -> Exchange:
    request = HeartbeatRequest(group_id="billing", generation_id=3, member_id="m")
    return exchange(HEARTBEAT, 4, request, HeartbeatResponse(throttle_time_ms=0, error_code=0), **values)


AN_EVENT = Event(sequence=5, at=Moment(1.0, 2.0), kind="leader", node=2, text="node 2 leads orders-0", fields={"topic": "orders"})
