"""Entries for tests of filters and lines."""

from __future__ import annotations

from typing import Any

from odradek.broker.wire.exchange import Event, Exchange, Moment
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from tests.broker.harness import a_batch, produce_request
from tests.broker.wire.made_exchanges import exchange


def a_produce(code: int = 0, **values: Any) -> Exchange:
    partitions = [PartitionProduceResponse(index=0, error_code=code, base_offset=0)]
    response = ProduceResponse(responses=[TopicProduceResponse(name="orders", partition_responses=partitions)])
    return exchange(PRODUCE, 9, produce_request("orders", a_batch(b"x")), response, **values)


def a_heartbeat(**values: Any) -> Exchange:
    request = HeartbeatRequest(group_id="billing", generation_id=3, member_id="m")
    return exchange(HEARTBEAT, 4, request, HeartbeatResponse(throttle_time_ms=0, error_code=0), **values)


AN_EVENT = Event(sequence=5, at=Moment(1.0, 2.0), kind="leader", node=2, text="node 2 leads orders-0", fields={"topic": "orders"})
