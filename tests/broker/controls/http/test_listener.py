"""The control listener on sockets: requests, errors, waits, limits, and what a bad client can do."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import wraps
from http.client import HTTPConnection
from typing import Any, cast

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from odradek import AsyncCluster, Cluster
from odradek.broker.control_errors import ControlRefused
from odradek.broker.controls.declaration import CONTROLS
from odradek.broker.controls.http import connection as control_connection
from odradek.broker.controls.http import http_listener
from odradek.broker.controls.http.requests import MAX_BODY_BYTES
from odradek.broker.network import driver
from tests.broker.controls.http.http_requests import Answer, answer_of, ask, ask_on, connected, get, post
from tests.fuzz.canary import Canary

LOOPS = ["asyncio", *(["uvloop"] if driver.uvloop is not None else [])]


@pytest.fixture(scope="module", params=LOOPS)
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ODRADEK_LOOP", request.param)
        with Cluster(nodes=2, topics={"orders": 2}, control="127.0.0.1:0") as cluster:
            yield cluster


@pytest.fixture
def address(cluster: Cluster) -> str:
    assert cluster.control is not None
    return cluster.control


def canary(cluster: Cluster) -> Canary:
    addresses = [(host, int(port)) for host, port in (each.split(":") for each in cluster.bootstrap_servers.split(","))]
    canary = Canary(addresses)
    canary.create_topic()
    return canary


def problem(answer: Answer, status: int) -> str:
    """Checks a problem and returns its detail."""
    assert answer.status == answer.body["status"] == status, answer
    assert answer.headers["Content-Type"] == "application/problem+json"
    return str(answer.body["detail"])


# Controls


def test_controls_are_carried_out_with_json(cluster: Cluster, address: str) -> None:
    written = post(address, "/record/produce", topic="http", records=["a", {"key": "k", "value": {"base64": "/w=="}}])
    assert (written.status, len(written.body)) == (200, 2)
    assert {record.value for record in cluster.records("http")} == {b"a", b"\xff"}
    read = get(address, "/record/list", topic="http")
    assert sorted(str(record["value"]) for record in read.body) == ["a", "{'base64': '/w=='}"]
    assert read.headers["Content-Type"] == "application/json"
    assert post(address, "/node/stop", node=2)[:2] == (204, None)
    assert post(address, "/node/start", node=2).status == 204
    assert get(address, "/clock/show").body["speed"] == 1


def test_requests_of_one_connection_are_answered_in_order(address: str) -> None:
    with closing(HTTPConnection(address, timeout=30)) as connection:
        assert ask_on(connection, "GET", "/clock/show").status == 200
        first = connection.sock
        assert ask_on(connection, "GET", "/nowhere").status == 404
        assert ask_on(connection, "POST", "/topic/create", {"topic": "orders"}).status == 400
        assert ask_on(connection, "GET", "/clock/show").status == 200
        assert connection.sock is first
    with connected(address) as client:
        client.sendall(b"GET /clock/show HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2 + b"GET /x HTTP/1.0\r\nHost: localhost\r\n\r\n")
        received = read_all(client)
    assert re.findall(rb"^HTTP/1.1 (\d+)", received, re.MULTILINE) == [b"200", b"200", b"404"]


def test_head_has_the_length_without_the_body(address: str) -> None:
    with connected(address) as client:
        client.sendall(b"HEAD /openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        head, _, body = read_all(client).partition(b"\r\n\r\n")
    assert body == b""
    assert len(ask(address, "GET", "/openapi.json").headers["Content-Length"]) > 3
    assert b"\r\nContent-Length: " in head


def test_chunked_body_and_expect_are_served(address: str) -> None:
    with connected(address) as client:
        client.sendall(
            b"POST /clock/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
            b"Expect: 100-continue\r\nConnection: close\r\n\r\n"
        )
        assert client.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b'6\r\n{"spee\r\n6\r\nd": 1}\r\n0\r\n\r\n')
        assert b'"speed": 1.0' in read_all(client)


def test_large_body_and_long_result_are_served(cluster: Cluster, address: str) -> None:
    records = [f"{number}" * 60 for number in range(3000)]
    assert len(post(address, "/record/produce", topic="large", records=records).body) == 3000
    assert [record["value"] for record in get(address, "/record/list", topic="large").body] == records


def test_openapi_document_is_valid_and_complete(address: str) -> None:
    document = ask(address, "GET", "/openapi.json").body
    assert [str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()] == []
    assert set(document["paths"]) == {"/" + "/".join(words) for words in CONTROLS}
    assert "security" not in document


# Errors


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "detail", "parameter"),
    [
        ("POST", "/node/stop", {"node": 7}, 400, "node: there is no node 7; use one of 1, 2", "node"),
        ("POST", "/node/stop", {"nod": 2}, 400, "nod: there is no parameter 'nod'; did you mean 'node'?", "nod"),
        ("POST", "/node/stop", None, 400, "node: is required (the id of a node)", "node"),
        ("POST", "/node/stop", [2], 400, "the body must be a JSON object, not [2]", None),
        ("POST", "/node/stop?node=2", {}, 400, "a POST has no query; write the parameters into the body, as a JSON object", None),
        ("GET", "/record/list?topic=ordrs", None, 400, "topic: there is no topic 'ordrs'; did you mean 'orders'?", "topic"),
        ("GET", "/record/list?topic=orders&topic=x", None, 400, "topic: is given twice", "topic"),
        ("GET", "/record/list?topic=%ff", None, 400, "the query is invalid: ", None),
        ("GET", "/record/list?" + "a=b&" * 2000, None, 400, "the query is invalid: ", None),
        ("GET", "/record/list", {"topic": "orders"}, 400, "a GET has no body; write the parameters into the query", None),
        ("GET", "/record/wait?topic=orders&n=1&timeout_s=10ms", None, 400, "timeout_s: must be a number, not '10ms'; the", "timeout_s"),
        ("GET", "/record/lst", None, 404, "there is no path '/record/lst'; did you mean '/record/list'?", None),
        ("GET", "/" + "x" * 10_000, None, 404, "there is no path '/xxx", None),
        ("POST", "/x", {}, 404, "there is no path '/x'", None),
    ],
)  # fmt: skip
def test_mistake_is_answered_with_a_problem(
    address: str, method: str, path: str, body: Any, status: int, detail: str, parameter: str | None
) -> None:
    answer = ask(address, method, path, body)
    assert problem(answer, status).startswith(detail)
    assert answer.body.get("parameter") == parameter


@pytest.mark.parametrize(
    ("method", "path", "allow"), [("GET", "/node/stop", "POST"), ("POST", "/clock/show", "GET, HEAD"), ("POST", "/", "GET, HEAD")]
)
def test_other_method_is_answered_with_allow(address: str, method: str, path: str, allow: str) -> None:
    answer = ask(address, method, path)
    assert problem(answer, 405) == f"use {allow.partition(',')[0]} {path}"
    assert answer.headers["Allow"] == allow


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_body_of_another_type_is_refused(address: str, content_type: str) -> None:
    assert "must have Content-Type: application/json" in problem(
        ask(address, "POST", "/node/stop", b'{"node": 2}', Content_Type=content_type), 415
    )


def test_wait_without_success_is_a_gateway_timeout(address: str) -> None:
    detail = problem(get(address, "/record/wait", topic="absent", n=5, timeout_s=0), 504)
    assert detail == "topic 'absent' does not exist, so it has 0 of 5 records (waited 0 s)"


def replaced(patch: pytest.MonkeyPatch, words: str, method: Callable[..., Any]) -> None:
    """Lets `method` carry out a control with the parameters that it has."""
    declared = CONTROLS[tuple(words.split())]

    @wraps(declared.method)
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await method(*args, **kwargs)

    patch.setitem(CONTROLS, declared.words, declared._replace(method=call))


def test_refusal_of_the_cluster_is_a_conflict(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(controls: object) -> None:
        raise ControlRefused("NOT_CONTROLLER", "no")

    replaced(monkeypatch, "group list", refuse)
    answer = get(address, "/group/list")
    assert (problem(answer, 409), answer.body["code"]) == ("NOT_CONTROLLER: no", "NOT_CONTROLLER")


def test_internal_error_costs_one_request(address: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    async def fail(controls: object) -> None:
        raise KeyError("secret")

    replaced(monkeypatch, "group list", fail)
    with closing(HTTPConnection(address, timeout=30)) as connection:
        assert "secret" not in problem(ask_on(connection, "GET", "/group/list"), 500)
        assert ask_on(connection, "GET", "/clock/show").status == 200
    assert "an internal error while answering GET /group/list" in caplog.text


# AccessRules


def test_foreign_pages_have_no_access(address: str) -> None:
    assert "evil.example" in problem(ask(address, "GET", "/clock/show", Host="evil.example"), 403)
    assert "evil.example" in problem(ask(address, "POST", "/clock/freeze", {}, Origin="http://evil.example"), 403)
    assert ask(address, "GET", "/clock/show", Origin=f"http://{address}").status == 200


def test_token_is_required_for_every_request() -> None:
    with Cluster(nodes=1, control="127.0.0.1:0", control_token="s3cret") as cluster:
        assert cluster.control is not None
        for path in ("/clock/show", "/openapi.json", "/nowhere"):
            answer = ask(cluster.control, "GET", path, Authorization="Bearer wrong")
            assert "--control-token" in problem(answer, 401)
            assert answer.headers["WWW-Authenticate"] == 'Bearer realm="odradek"'
        document = ask(cluster.control, "GET", "/openapi.json", Authorization="Bearer s3cret").body
        assert document["security"] == [{"token": []}]
        assert [str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


# Waits


class Waiter:
    """A control that waits until it is released, and says how it ended."""

    def __init__(self) -> None:
        self.started, self.ended = threading.Event(), threading.Event()
        self.outcome = ""

    async def wait(self, controls: object, **arguments: object) -> None:
        self._release, self._loop = asyncio.Event(), asyncio.get_running_loop()
        self.started.set()
        try:
            await self._release.wait()
            self.outcome = "completed"
        except asyncio.CancelledError:
            self.outcome = "cancelled"
            raise
        finally:
            self.ended.set()

    def release(self) -> None:
        self._loop.call_soon_threadsafe(self._release.set)


@pytest.fixture
def waiter(monkeypatch: pytest.MonkeyPatch) -> Waiter:
    waiter = Waiter()
    for words in ("record wait", "clock freeze", "clock advance"):
        replaced(monkeypatch, words, waiter.wait)
    return waiter


def reset(client: socket.socket) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


WAIT = b"GET /record/wait?topic=t&n=1 HTTP/1.1\r\nHost: localhost\r\n\r\n"
ADVANCE = b"POST /clock/advance HTTP/1.1\r\nHost: localhost\r\n\r\n"
CHANGE = b"POST /clock/freeze HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_wait_holds_up_neither_requests_nor_brokers(cluster: Cluster, address: str, waiter: Waiter) -> None:
    with connected(address) as client, closing(canary(cluster)) as other:
        client.sendall(WAIT + b"GET /clock/show HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert waiter.started.wait(10)
        assert get(address, "/clock/show").status == 200
        other.check_one_record()
        waiter.release()
        assert re.findall(rb"^HTTP/1.1 (\d+)", read_all(client), re.MULTILINE) == [b"200", b"200"]
    cluster.delete_topic("canary")


ENDINGS = {"half": lambda client: client.shutdown(socket.SHUT_WR), "closed": socket.socket.close, "reset": reset}


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
@pytest.mark.parametrize("request_bytes", [WAIT, ADVANCE], ids=["wait", "advance"])
def test_ended_connection_cancels_what_may_stop(
    address: str, waiter: Waiter, request_bytes: bytes, ending: Callable[[socket.socket], None]
) -> None:
    with connected(address) as client:
        client.sendall(request_bytes)
        assert waiter.started.wait(10)
        ending(client)
        assert waiter.ended.wait(10)
    assert waiter.outcome == "cancelled"


@pytest.mark.parametrize("ending", ENDINGS.values(), ids=ENDINGS)
def test_ended_connection_completes_a_change(address: str, waiter: Waiter, ending: Callable[[socket.socket], None]) -> None:
    with connected(address) as client:
        client.sendall(CHANGE)
        assert waiter.started.wait(10)
        ending(client)
        assert get(address, "/clock/show").status == 200  # the listener has seen the end meanwhile
        waiter.release()
        assert waiter.ended.wait(10)
    assert waiter.outcome == "completed"
    assert get(address, "/clock/show").status == 200


def test_requests_behind_a_wait_are_read_later(address: str, waiter: Waiter) -> None:
    """The listener stops reading while a wait is under way, and continues with the first of the requests behind it."""
    count = 4000
    with connected(address) as client:
        client.sendall(WAIT)
        assert waiter.started.wait(10)
        sender = threading.Thread(target=client.sendall, args=(b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n" * count,))
        sender.start()
        waiter.release()
        received = b""
        while received.count(b"HTTP/1.1 404") < count:
            received += client.recv(65536)
        sender.join()
    assert received.startswith(b"HTTP/1.1 200")


def test_half_closed_client_gets_its_response(address: str) -> None:
    with connected(address) as client:
        client.sendall(b"GET /clock/show HTTP/1.1\r\nHost: localhost\r\n\r\n")
        client.shutdown(socket.SHUT_WR)
        assert read_all(client).startswith(b"HTTP/1.1 200 OK\r\n")


def test_idle_client_that_half_closes_is_closed(address: str) -> None:
    with connected(address) as client:
        client.sendall(b"GET /clock/show HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        client.shutdown(socket.SHUT_WR)
        assert end_of(client)


def test_stop_of_the_cluster_ends_waits(waiter: Waiter) -> None:
    with Cluster(nodes=1, control="127.0.0.1:0") as cluster:
        assert cluster.control is not None
        with connected(cluster.control) as client:
            client.sendall(WAIT)
            assert waiter.started.wait(10)
            cluster.stop()
            with pytest.raises(ConnectionError):
                connected(str(client.getpeername()[0]) + ":" + str(client.getpeername()[1]))
    assert waiter.outcome == "cancelled"


# Bad clients


def read_all(client: Any) -> bytes:
    data = b""
    while received := client.recv(65536):
        data += received
    return data


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x00\x00\x00\x0c\x00\x12\x00\x03\x00\x00\x00\x00\xff\xff", b"400"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"GET /" + b"x" * 40_000, b"431"),
        (b"POST /node/stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n", b"413"),
    ],
)
def test_garbage_closes_its_connection(address: str, data: bytes, status: bytes) -> None:
    with connected(address) as client:
        client.sendall(data)
        received = read_all(client)
    assert received.startswith(b"HTTP/1.1 " + status)
    assert b"\r\nConnection: close\r\n" in received


def test_hundred_megabytes_have_no_effect_on_the_brokers(cluster: Cluster, address: str) -> None:
    megabyte = b"\0" * (1 << 20)
    with closing(canary(cluster)) as other:
        for head in (b"", b"POST /record/produce HTTP/1.1\r\nHost: localhost\r\nContent-Length: 104857600\r\n\r\n"):
            with connected(address) as client:
                client.sendall(head)
                try:
                    for _ in range(100):
                        client.sendall(megabyte)
                        other.check_one_record()
                except ConnectionError:
                    pass  # the listener has ended the connection before it had received everything
        other.check_all()
    cluster.delete_topic("canary")


def test_largest_body_is_read(address: str) -> None:
    body = b'{"node": 7' + b" " * (MAX_BODY_BYTES - 11) + b"}"
    assert ask(address, "POST", "/node/stop", body, Content_Type="application/json").body["parameter"] == "node"
    with closing(HTTPConnection(address, timeout=30)) as connection:
        connection.putrequest("POST", "/node/stop")
        connection.putheader("Content-Length", str(MAX_BODY_BYTES + 1))
        connection.endheaders()
        assert answer_of(connection.getresponse()).status == 413


def test_silent_connection_is_closed(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_connection, "REQUEST_S", 0.02)
    for data in (b"", b"GET /clock", b"POST /node/stop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n1"):
        with connected(address) as client:
            client.sendall(data)
            assert end_of(client)


def end_of(client: Any) -> bool:
    """Returns whether the listener ends the connection without a word."""
    try:
        return bool(client.recv(1) == b"")
    except ConnectionResetError:
        return True


def test_connection_above_the_limit_replaces_the_idlest(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "MAX_CONNECTIONS", 2)
    with closing(HTTPConnection(address)) as first, closing(HTTPConnection(address)) as second:
        for client in (first, second, first):
            assert ask_on(client, "GET", "/clock/show").status == 200
        with closing(HTTPConnection(address)) as third:
            assert ask_on(third, "GET", "/clock/show").status == 200
            assert end_of(second.sock)
            assert ask_on(first, "GET", "/clock/show").status == 200


def test_connection_above_the_limit_is_closed_if_all_are_busy(address: str, waiter: Waiter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "MAX_CONNECTIONS", 1)
    with connected(address) as busy:
        busy.sendall(CHANGE)
        assert waiter.started.wait(10)
        with connected(address) as other:
            assert end_of(other)
        waiter.release()
        assert busy.recv(100).startswith(b"HTTP/1.1 ")


def test_stream_is_replaced_by_a_connection_above_the_limit(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "MAX_CONNECTIONS", 1)
    with connected(address) as reader:
        reader.sendall(b"GET /wire/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert reader.recv(100).startswith(b"HTTP/1.1 200")
        assert get(address, "/clock/show").status == 200
        assert read_all(reader) is not None


def begin_body(address: str, sent_bytes: int, length: int = 100_000) -> socket.socket:
    """Begins a request with a body, and returns when the listener has read the part that was sent."""
    client = connected(address)
    head = f"POST /clock/freeze HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    client.sendall(head.encode() + b" " * sent_bytes)
    return client


def test_incomplete_bodies_make_room_for_others(cluster: Cluster, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "MAX_BODIES_BYTES", 200_000)
    with begin_body(address, 90_000) as first:
        assert get(address, "/clock/show").status == 200
        with begin_body(address, 90_000) as second, begin_body(address, 90_000) as third:
            assert end_of(first)
            for client in (second, third):
                client.sendall(b" " * 9_998 + b"{}")
                assert client.recv(100).startswith(b"HTTP/1.1 200")
    assert post(address, "/clock/run").status == 200


def test_body_beyond_those_of_busy_requests_is_refused(address: str, waiter: Waiter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_listener, "MAX_BODIES_BYTES", 150_000)
    with begin_body(address, 99_998) as busy:
        busy.sendall(b"{}")
        assert waiter.started.wait(10)
        with begin_body(address, 90_000) as other:
            assert other.recv(100).startswith(b"HTTP/1.1 503")
        waiter.release()
        assert busy.recv(100).startswith(b"HTTP/1.1 ")


def test_client_that_does_not_read_is_closed(cluster: Cluster, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listener holds one response for it, and answers no further request until that is read."""
    monkeypatch.setattr(control_connection, "REQUEST_S", 0.05)
    for _ in range(20):
        cluster.produce("unread", ["x" * 1000] * 1000)
    with connected(address) as client:
        client.sendall(b"GET /record/list?topic=unread HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
        with pytest.raises(ConnectionError):
            while True:
                client.sendall(b"GET /record/list?topic=unread HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert get(address, "/clock/show").status == 200
    cluster.delete_topic("unread")


def test_client_that_reads_slowly_is_not_closed() -> None:
    """The time limit begins again when a part of the response has been read since the last check."""

    class Transport:
        unsent_bytes, aborted = 1000, False

        def get_write_buffer_size(self) -> int:
            return self.unsent_bytes

        def abort(self) -> None:
            self.aborted = True

    async def scenario() -> list[bool]:
        connection, transport = control_connection.HttpConnection(cast(Any, None)), Transport()
        connection._transport = cast(Any, transport)
        connection._wait_for_request()
        aborted = []
        for unsent_bytes in (900, 10, 10):
            transport.unsent_bytes = unsent_bytes
            connection._check_progress()
            aborted.append(transport.aborted)
        connection._cancel_timer()
        return aborted

    assert asyncio.run(scenario()) == [False, False, True]


# Embedded clusters


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"control": "9099"}, "invalid address '9099' for control"),
        ({"control": "0.0.0.0:0"}, "control cannot listen on 0.0.0.0 without a token"),
        ({"control_token": "t"}, "control_token has no effect without control"),
    ],
)
@pytest.mark.parametrize("kind", [Cluster, AsyncCluster])
def test_invalid_control_argument_raises(kind: Callable[..., object], arguments: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        kind(**arguments)


def test_control_address_is_known_while_running() -> None:
    cluster = Cluster(nodes=1, control="127.0.0.1:0")
    for _ in range(2):
        with pytest.raises(ValueError, match="the cluster is not running"):
            _ = cluster.control
        with cluster:
            assert cluster.control is not None
            assert get(cluster.control, "/clock/show").status == 200
    with Cluster(nodes=1) as without:
        assert without.control is None


def test_port_in_use_stops_the_cluster(cluster: Cluster, address: str) -> None:
    other = Cluster(nodes=1, control=address)
    with pytest.raises(OSError, match=f"cannot listen on {address}: Address already in use"):
        other.start()
    assert repr(other) == "<Cluster: 1 node, not running>"


@pytest.mark.parametrize("loop", LOOPS)
def test_stopped_listener_releases_its_port(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODRADEK_LOOP", loop)

    async def scenario() -> None:
        cluster = await AsyncCluster(nodes=1, control="127.0.0.1:0").start()
        address = cluster.control
        for _ in range(3):
            with connected(str(address)):
                await cluster.stop()
            cluster = await AsyncCluster(nodes=1, control=address).start()
        await cluster.stop()

    with asyncio.Runner(loop_factory=driver.new_event_loop) as runner:
        runner.run(scenario())


def test_async_cluster_serves_controls_too() -> None:
    async def scenario() -> Answer:
        async with AsyncCluster(nodes=1, control="localhost:0") as cluster:
            assert cluster.control is not None
            assert cluster.control.startswith("localhost:")
            return await asyncio.to_thread(get, cluster.control, "/clock/show")

    assert asyncio.run(scenario()).status == 200
