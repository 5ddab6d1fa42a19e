from __future__ import annotations

import pytest

from odradek.broker.wire.pairing import HEADLESS, MAX_OPEN, Pairing, RequestStart
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest


def head(correlation_id: int, key: int = 3, version: int = 9) -> bytes:
    return key.to_bytes(2, "big") + version.to_bytes(2, "big") + correlation_id.to_bytes(4, "big")


def pairing_of(*correlation_ids: int) -> Pairing[int]:
    pairing = Pairing[int]()
    for correlation_id in correlation_ids:
        pairing.add_request(head(correlation_id), correlation_id)
    return pairing


def test_answered_requests_are_found_in_order() -> None:
    pairing = pairing_of(1, 2)
    assert pairing.take_request(b"\0\0\0\1...") == ([], (RequestStart(3, 9, 1), 1))
    assert pairing.take_request(b"\0\0\0\2") == ([], (RequestStart(3, 9, 2), 2))


def test_answered_request_skips_those_without_response() -> None:
    pairing = pairing_of(1, 2, 3, 4)
    assert pairing.take_request(b"\0\0\0\3") == ([1, 2], (RequestStart(3, 9, 3), 3))
    assert pairing.rest() == [4]
    assert pairing.rest() == []


def test_answered_unknown_id_removes_no_request() -> None:
    pairing = pairing_of(1)
    assert pairing.take_request(b"\0\0\0\7") == ([], None)
    assert pairing.expects(b"\0\0\0\1") and not pairing.expects(b"\0\0\0\7")
    assert pairing.take_request(b"") == ([], None)
    assert pairing.rest() == [1]


def test_given_up_requests_are_the_oldest() -> None:
    pairing = pairing_of(*range(MAX_OPEN + 3))
    assert pairing.drop_oldest() == [0, 1, 2]
    assert pairing.drop_oldest() == []
    assert pairing.first_while(lambda item: item < 5) == [3, 4]


@pytest.mark.parametrize(("mechanism", "tokens"), [("PLAIN", 1), ("SCRAM-SHA-256", 2), ("GSSAPI", 5)])
def test_tokens_follow_an_accepted_handshake_v0(mechanism: str, tokens: int) -> None:
    pairing = Pairing[int]()
    frame = b"".join(encode_request(SASL_HANDSHAKE, 0, 1, "c", SaslHandshakeRequest(mechanism=mechanism)))[4:]
    pairing.add_request(frame[:8], 0)
    pairing.request_completed(frame)
    _, found = pairing.take_request(b"\0\0\0\1")
    assert found is not None
    pairing.response_completed(found[0], b"\0\0\0\1\0\0\0\0\0\0")
    starts = [pairing.add_request(b"\0alice\0secret"[:8], number) for number in range(tokens)]
    assert all(start is HEADLESS for start in starts)
    assert pairing.take_request(b"\0\0\0\7") == ([], (HEADLESS, 0))
    if mechanism != "GSSAPI":
        assert pairing.add_request(head(9), 9) == RequestStart(3, 9, 9)


def test_no_tokens_follow_a_refused_handshake() -> None:
    pairing = Pairing[int]()
    frame = b"".join(encode_request(SASL_HANDSHAKE, 0, 1, "c", SaslHandshakeRequest(mechanism="PLAIN")))[4:]
    start = pairing.add_request(frame[:8], 0)
    pairing.request_completed(frame)
    pairing.response_completed(start, b"\0\0\0\1\0\x21\0\0\0\0")
    assert pairing.add_request(head(2), 2) == RequestStart(3, 9, 2)
