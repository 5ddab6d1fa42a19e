"""The stream of the record as server-sent events, over sockets."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Coroutine, Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest

from odradek import Cluster
from odradek.broker.controls.http import connection as control_connection
from odradek.broker.controls.http import stream
from odradek.broker.controls.http.stream import TimeBudget
from odradek.broker.scheduling.turns import TURN_S
from odradek.broker.wire.json_form import json_of_entry
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.controls.http.http_requests import connected, get, post
from tests.broker.harness import a_batch, produce_request
from tests.broker.network.client import ask, connect, read_exactly

Sent = tuple[str, str, Any]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"orders": 1}, control="127.0.0.1:0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster: Cluster) -> Iterator[socket.socket]:
    with connect(cluster.bootstrap_servers) as client:
        yield client


def events(response: HTTPResponse) -> Iterator[Sent]:
    """Yields the id, the name and the data of each event."""
    fields: dict[str, str] = {}
    while line := response.readline():
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name:
            fields[name] = value
        elif "data" in fields:
            yield fields.get("id", ""), fields["event"], json.loads(fields["data"])
            fields = {}
        else:
            fields = {}


def opened(cluster: Cluster, query: str = "since=0", **headers: str) -> tuple[HTTPResponse, Iterator[Sent]]:
    assert cluster.control is not None
    connection = HTTPConnection(cluster.control, timeout=30)
    connection.request("GET", f"/wire/stream?{query}", headers={name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    assert (response.status, response.getheader("Content-Type")) == (200, "text/event-stream")
    assert response.getheader("Content-Length") is None
    return response, events(response)


def a_produce(client: socket.socket) -> None:
    ask(client, PRODUCE, 9, produce_request("orders", a_batch(b"x")))


def test_stream_sends_entries_as_they_happen(cluster: Cluster, client: socket.socket) -> None:
    response, sent = opened(cluster)
    with closing(response):
        number, name, data = next(sent)
        assert (number, name, data["event"]) == ("1", "event", "connection opened")
        for n in range(3):
            a_produce(client)
            number, name, data = next(sent)
            assert (number, name, data["api"], data["error"]) == (str(n + 2), "exchange", "Produce", None)
            assert "request" not in data


def test_stream_filters_and_decodes(cluster: Cluster, client: socket.socket) -> None:
    response, sent = opened(cluster, "filter=api%3DProduce%20and%20error&verbose=true&frames=true")
    with closing(response):
        a_produce(client)
        ask(client, PRODUCE, 9, produce_request("nowhere/", a_batch(b"x")))
        _, _, data = next(sent)
        assert data["request"]["topic_data"][0]["name"] == "nowhere/"
        assert data["request_frame"]["size"] > 50


def test_stream_continues_behind_the_last_id(cluster: Cluster, client: socket.socket) -> None:
    for _ in range(5):
        a_produce(client)
    response, sent = opened(cluster, Last_Event_ID="4")
    with closing(response):
        assert [next(sent)[0], next(sent)[0]] == ["5", "6"]


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("filter=eror", "did you mean 'error'?"),
        ("sinse=4", "did you mean 'since'?"),
        ("since=x", "since: expected a number, not 'x'"),
        ("since=-1", "since: expected a number, not '-1'"),
        ("verbose=1", "verbose: expected true or false, not '1'"),
        ("filter=%ff", "the query is invalid"),
    ],
)
def test_wrong_parameter_is_refused(cluster: Cluster, query: str, detail: str) -> None:
    assert cluster.control is not None
    answer = get(cluster.control, f"/wire/stream?{query}")
    assert answer.status == 400
    assert detail in answer.body["detail"]


def test_stream_is_only_read(cluster: Cluster) -> None:
    assert cluster.control is not None
    assert post(cluster.control, "/wire/stream").status == 405
    with closing(HTTPConnection(cluster.control, timeout=30)) as connection:
        connection.request("HEAD", "/wire/stream")
        response = connection.getresponse()
        assert (response.status, response.read()) == (200, b"")


def test_stream_of_a_record_that_is_off_is_refused() -> None:
    with Cluster(nodes=1, record_exchanges=0, control="127.0.0.1:0") as cluster:
        assert cluster.control is not None
        answer = get(cluster.control, "/wire/stream")
        assert (answer.status, answer.body["code"]) == (409, "RECORD_SWITCHED_OFF")


def test_stream_needs_the_token() -> None:
    with Cluster(nodes=1, control="127.0.0.1:0", control_token="s3cret") as cluster:
        assert cluster.control is not None
        assert get(cluster.control, "/wire/stream").status == 401
        response, sent = opened(cluster, Authorization="Bearer s3cret")
        with closing(response), connect(cluster.bootstrap_servers):
            assert next(sent)[1] == "event"


def test_quiet_stream_sends_comments(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "KEEP_ALIVE_S", 0.01)
    assert cluster.control is not None
    with connected(cluster.control) as client:
        client.sendall(b"GET /wire/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        data = b""
        while b"\n:\n" not in data:
            data += client.recv(1000)


def test_reader_that_does_not_read_disturbs_nobody(cluster: Cluster, client: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream is closed once it has not been read for a while. Until then it holds no more than the buffers of its socket."""
    assert cluster.control is not None
    with connected(cluster.control) as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.sendall(b"GET /wire/stream?since=0&verbose=true&frames=true HTTP/1.1\r\nHost: localhost\r\n\r\n")
        monkeypatch.setattr(control_connection, "REQUEST_S", 0.2)
        monkeypatch.setattr(stream, "KEEP_ALIVE_S", 0.1)
        frame = b"".join(encode_request(PRODUCE, 9, 1, "test", produce_request("orders", a_batch(bytes(3000)))))
        size = len(ask_raw(client, frame))
        for _ in range(30):
            client.sendall(frame * 50)
            read_exactly(client, size * 50)
        assert ask(client, METADATA, 9, MetadataRequest(topics=None)).topics[0].name == "orders"
        response, sent = opened(cluster, "since=0")
        with closing(response):
            assert next(sent)[1] in ("missed", "event")
        listener = cluster._embedded._listener
        assert listener is not None
        while listener.connections:
            ask(client, METADATA, 9, MetadataRequest(topics=None))


def ask_raw(client: socket.socket, frame: bytes) -> bytes:
    client.sendall(frame)
    length = read_exactly(client, 4)
    return length + read_exactly(client, int.from_bytes(length, "big"))


def test_readers_with_the_same_parameters_share_the_texts(cluster: Cluster, client: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered: list[int] = []

    def counted(entry: Any, **options: bool) -> Any:
        rendered.append(entry.sequence)
        return json_of_entry(entry, **options)

    monkeypatch.setattr(stream, "json_of_entry", counted)
    followed = [opened(cluster, "since=0&filter=api%3DProduce") for _ in range(5)]
    a_produce(client)
    assert len({next(sent)[0] for _, sent in followed}) == 1
    assert len(rendered) == 1
    for response, _ in followed:
        response.close()


class Loop:
    """A clock that only the test moves, and the pauses of the budget."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 100.0
        self.pauses: list[float] = []
        monkeypatch.setattr(asyncio, "get_running_loop", lambda: self)
        monkeypatch.setattr(asyncio, "sleep", self._sleep)

    def time(self) -> float:
        return self.now_s

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


def run(scenario: Coroutine[Any, Any, None]) -> None:
    with pytest.raises(StopIteration):
        scenario.send(None)


def test_budget_pauses_for_as_long_as_readers_have_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, shared = Loop(monkeypatch), TimeBudget()

    async def scenario() -> None:
        for worked_s in (TURN_S / 2, TURN_S / 4, TURN_S / 2, 3 * TURN_S, 0):
            async with shared.turn() as end_s:
                assert end_s == loop.now_s + TURN_S
                loop.now_s += worked_s

    run(scenario())
    assert loop.pauses == pytest.approx([0, 0, 1.25 * TURN_S, 3 * TURN_S, 0])


def test_budget_lets_readers_work_in_the_order_of_asking() -> None:
    worked: list[int] = []

    async def read(shared: TimeBudget, number: int) -> None:
        for _ in range(3):
            async with shared.turn():
                worked.append(number)

    async def scenario() -> None:
        shared = TimeBudget()
        await asyncio.gather(*(read(shared, number) for number in range(4)))

    asyncio.run(scenario())
    assert sorted(worked[:4]) == [0, 1, 2, 3]
    assert len(worked) == 12
