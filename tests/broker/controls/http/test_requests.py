"""The parser of HTTP requests: any portions of bytes, limits, ambiguous and damaged requests."""

from __future__ import annotations

from http import HTTPStatus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.controls.http.requests import MAX_BODY_BYTES, MAX_CHUNKS, MAX_HEAD_BYTES, MAX_HEADERS, Request, RequestParser
from odradek.broker.controls.http.responses import Problem

GET = b"GET /clock/show?a=b%20c HTTP/1.1\r\nHost: localhost:1\r\n\r\n"
POST = b'POST /node/stop HTTP/1.1\r\nhost:localhost\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{"node": 2}'
CHUNKED = (
    b"POST /node/stop HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
    b'4\r\n{"no\r\n07;name="value"\r\nde": 2}\r\n0\r\nTrailer: x\r\n\r\n'
)


def parser(admitted: list[Request] | None = None) -> RequestParser:
    return RequestParser((admitted if admitted is not None else []).append)


def received(data: bytes, size: int) -> list[Request]:
    """Returns the requests in `data`, which the parser receives in portions of `size` bytes."""
    parsed, requests = parser(), []
    for start in range(0, len(data), size):
        parsed.receive(data[start : start + size])
        while (request := parsed.next_request()) is not None:
            requests.append(request)
    assert parsed.buffered_bytes == 0
    return requests


def refused(data: bytes) -> Problem:
    parsed = parser()
    with pytest.raises(Problem) as raised:
        parsed.receive(data)
        while parsed.next_request() is not None:
            pass
    return raised.value


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1 << 20])
def test_requests_in_any_portions_are_the_same(size: int) -> None:
    first, second, third, fourth = received(GET + b"\r\n" + POST + CHUNKED + GET, size)
    assert (first.method, first.target, first.headers, first.body) == ("GET", "/clock/show?a=b%20c", {"host": "localhost:1"}, b"")
    assert (second.headers["content-type"], second.body) == ("application/json", b'{"node": 2}')
    assert third.body == b'{"node": 2}'
    assert fourth == first
    assert first.keep_alive


@pytest.mark.parametrize(
    ("head", "keep_alive"),
    [
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: x , Close\r\n\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n\r\n", True),
        (b"GET / HTTP/1.0\r\n\r\n", False),
    ],
)
def test_connection_header_ends_the_connection(head: bytes, keep_alive: bool) -> None:
    assert [request.keep_alive for request in received(head, 1)] == [keep_alive]


def test_absolute_target_replaces_the_host() -> None:
    (request,) = received(b"GET http://localhost:9099/clock/show HTTP/1.1\r\nHost: other\r\n\r\n", 5)
    assert (request.target, request.headers["host"]) == ("/clock/show", "localhost:9099")
    (request,) = received(b"GET http://localhost?a=b HTTP/1.1\r\nHost: other\r\n\r\n", 5)
    assert (request.target, request.headers["host"]) == ("/?a=b", "localhost")


def test_repeated_headers_are_joined() -> None:
    (request,) = received(b"GET / HTTP/1.1\r\nHost: h\r\nVia: a\r\nX:\t \r\nvia: b \r\n\r\n", 4)
    assert request.headers == {"host": "h", "via": "a, b", "x": ""}


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x00\x00\x00\x0c\x00\x12\x00\x03", 400),  # a Kafka request
        (b"\x16\x03\x01\x02\x00\x01", 400),  # a TLS handshake
        (b"a" * 100, 400),
        (b"\r\n\r\n", 400),
        (b"\n", 400),
        (b"\rGET / HTTP/1.1\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET /\xc3\xbc HTTP/1.1\r\nHost: h\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505),
        (b"GET / HTTP/1.2\r\nHost: h\r\n\r\n", 505),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: a\x00b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: a\nY: b\r\n\r\n", 400),
        (b"GET /" + b"a" * MAX_HEAD_BYTES, 431),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * (MAX_HEADERS + 1) + b"\r\n", 431),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1), 413),
        (b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n" % (MAX_BODY_BYTES + 1), 413),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * (MAX_CHUNKS + 1), 413),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * (MAX_HEADERS + 1), 431),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: h\r\nExpect: 200-ok\r\nContent-Length: 1\r\n\r\n", 417),
    ],
)
def test_damaged_request_is_refused_early(data: bytes, status: int) -> None:
    assert refused(data).status == status


def test_client_that_expects_it_is_told_to_continue() -> None:
    head, body = POST.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n").split(b"\r\n\r\n")
    parsed = parser()
    parsed.receive(head + b"\r\n\r\n")
    assert parsed.next_request() is None
    assert (parsed.take_continue(), parsed.take_continue()) == (True, False)
    parsed.receive(body)
    assert parsed.next_request() is not None
    parsed.receive(head + b"\r\n\r\n" + body)
    assert parsed.next_request() is not None
    assert not parsed.take_continue()  # the body has come without


def test_request_without_access_needs_no_memory() -> None:
    def deny(request: Request) -> None:
        assert request.body == b""
        raise Problem(HTTPStatus.UNAUTHORIZED, "no")

    parsed = RequestParser(deny)
    parsed.receive(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n")
    with pytest.raises(Problem, match="no"):
        parsed.next_request()


@given(st.data())
def test_mutated_requests_end_in_a_request_or_a_problem(data: st.DataObject) -> None:
    """Bytes are replaced, removed and inserted; every exception other than Problem fails."""
    mutated = bytearray(data.draw(st.sampled_from([GET, POST, CHUNKED, POST + CHUNKED])))
    for _ in range(data.draw(st.integers(1, 8))):
        position = data.draw(st.integers(0, len(mutated)))
        mutated[position : position + data.draw(st.integers(0, 3))] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"\r\n", b":", b" "])
        )
    parsed = parser()
    try:
        for size in data.draw(st.lists(st.integers(1, 40), max_size=20)):
            parsed.receive(bytes(mutated[:size]))
            del mutated[:size]
            while parsed.next_request() is not None:
                pass
    except Problem as problem:
        assert 400 <= problem.status < 600


def test_bytes_one_by_one_cost_linear_time() -> None:
    """A large body whose bytes arrive one by one is not copied or searched each time."""
    parsed = parser()
    parsed.receive(b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n")
    for _ in range(199_999):
        parsed.receive(b"x")
        assert parsed.next_request() is None
    parsed.receive(b"x")
    request = parsed.next_request()
    assert request is not None and len(request.body) == 200_000
