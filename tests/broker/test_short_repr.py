from __future__ import annotations

from odradek.broker.short_repr import MAX_CHARACTERS, short_repr
from odradek.protocol.messages.heartbeat import HeartbeatRequest
from tests.broker.harness import produce_request

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")


def test_short_repr_bounds_text_and_work() -> None:
    request = produce_request("t" * 30_000, bytes(10_000_000))
    request.topic_data *= 1_000
    assert len(short_repr(request)) <= MAX_CHARACTERS
    assert short_repr(request).startswith("ProduceRequest(transactional_id=None, acks=-1")
    assert short_repr(BEAT) == repr(BEAT)
    assert "10000000 bytes" in short_repr(bytes(10_000_000))
