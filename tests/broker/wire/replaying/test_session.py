from __future__ import annotations

from io import BytesIO

from odradek.broker.wire.exchange import Entry, Exchange, Frame, Moment
from odradek.broker.wire.reading.capture import CaptureReader
from odradek.broker.wire.replaying.ids import Ids
from odradek.broker.wire.replaying.session import Kind, obstacle, request_frame, steps_of
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.join_group import JoinGroupResponse
from odradek.protocol.messages.renew_delegation_token import RENEW_DELEGATION_TOKEN, RenewDelegationTokenRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from odradek.protocol.schema import Api, Message
from tests.broker.wire.captures import CapturedWorld

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="before")


def exchange(frame: bytes, size: int | None = None) -> Exchange:
    return Exchange(
        sequence=1,
        node=1,
        listener="",
        connection=1,
        peer="",
        client_id=None,
        software="",
        principal="",
        received=Moment(0, 0),
        answered=None,
        written=None,
        request_frame=Frame(frame, len(frame) if size is None else size),
        response_frame=None,
    )


def request(api: Api, version: int, message: Message) -> bytes:
    return b"".join(encode_request(api, version, 1, "c", message))[4:]


def test_steps_are_in_the_order_of_the_capture() -> None:
    world = CapturedWorld()
    first, second = world.client(), world.client()
    first.call(SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="PLAIN"))
    first.call(HEARTBEAT, 4, BEAT)
    second.call(HEARTBEAT, 4, BEAT)
    first.disconnect()
    entries: list[Entry] = list(CaptureReader(BytesIO(b"".join(world.section.blocks))).entries())
    assert [(step.kind, step.connection) for step in steps_of(entries)] == [
        (Kind.SEND, 1),
        (Kind.RECEIVE, 1),
        (Kind.SEND, 2),
        (Kind.RECEIVE, 2),
        (Kind.CLOSE, 1),
    ]


def test_obstacle_names_why_a_request_cannot_be_sent() -> None:
    frame = request(HEARTBEAT, 4, BEAT)
    assert obstacle(exchange(frame)) is None
    assert obstacle(exchange(b"damaged")) is None
    assert obstacle(exchange(frame, 9000)) == f"only {len(frame)} of its 9000 bytes were captured"
    redacted = request(RENEW_DELEGATION_TOKEN, 2, RenewDelegationTokenRequest(hmac=b"*" * 64, renew_period_ms=1))
    assert obstacle(exchange(redacted)) == "it contains a secret, which was not captured"


def test_request_frame_has_the_ids_of_now() -> None:
    ids = Ids()
    before = JoinGroupResponse(generation_id=1, protocol_name="", leader="", member_id="before", members=[])
    ids.learn(before, JoinGroupResponse(generation_id=1, protocol_name="", leader="", member_id="now", members=[]))
    expected = HeartbeatRequest(group_id="g", generation_id=1, member_id="now")
    assert request_frame(exchange(request(HEARTBEAT, 4, BEAT)), ids) == request(HEARTBEAT, 4, expected)


def test_request_frame_that_is_unreadable_is_sent_as_it_is() -> None:
    unknown = b"\x03\xe7\0\1\0\0\0\5\xff\xff"
    for frame in (b"damaged", unknown, request(HEARTBEAT, 4, BEAT)[:-3]):
        assert request_frame(exchange(frame), Ids()) == frame
