"""`odradek trace` and `odradek serve --trace`, mostly as processes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from typing import Any

import pytest

from odradek import Cluster
from odradek.broker import cli
from odradek.broker.commands.trace_client import Missed, NoStream, entries_of, interruptible
from odradek.broker.wire.exchange import Exchange
from odradek.broker.wire.json_form import json_of_entry
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import a_batch, produce_request
from tests.broker.network.client import ask, connect
from tests.broker.process.serve_process import CLEAN, COMMAND, bootstrap_servers, running
from tests.broker.wire.made_entries import a_produce

TOKEN = "s3cret"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"orders": 1}, control="127.0.0.1:0", control_token=TOKEN) as cluster:
        with connect(cluster.bootstrap_servers) as client:
            ask(client, PRODUCE, 9, produce_request("orders", a_batch(b"x")))
            ask(client, PRODUCE, 9, produce_request("payments/", a_batch(b"x")))
        cluster.wait_until(lambda: len(cluster.wire.since()) == 4, timeout_s=30)
        yield cluster


@contextmanager
def tracing(cluster: Cluster, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    environ = CLEAN | {"ODRADEK_CONTROL": str(cluster.control), "ODRADEK_CONTROL_TOKEN": TOKEN}
    process = subprocess.Popen(
        [*COMMAND, "trace", *arguments], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def lines(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    return [process.stdout.readline().rstrip("\n") for _ in range(count)]


def test_trace_prints_a_line_for_each_entry(cluster: Cluster) -> None:
    with tracing(cluster, "--since", "0") as process:
        opened, first, second, closed = lines(process, 4)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    assert " node 1 #1 connection opened: 127.0.0.1:" in opened
    assert re.search(r" node 1 #1 test         Produce v9 \(1\) orders \d+ B -> \d+ B, [0-9.]+ ms$", first)
    assert second.endswith(", UNKNOWN_TOPIC_OR_PARTITION")
    assert closed.endswith(" connection closed: FIN by the client")
    assert "\x1b" not in first
    assert (process.returncode, errors) == (0, "")


def test_trace_prints_selected_entries_as_json(cluster: Cluster) -> None:
    with tracing(cluster, "--since", "0", "--json", "--verbose", "--filter", "api=Produce and error") as process:
        (line,) = lines(process, 1)
    found = json.loads(line)
    assert (found["api"], found["version"], found["correlation_id"], found["error"]) == ("Produce", 9, 1, "UNKNOWN_TOPIC_OR_PARTITION")
    assert found["request"]["topic_data"][0]["name"] == "payments/"
    assert "request_frame" not in found


def test_trace_with_fields_follows_new_requests(cluster: Cluster) -> None:
    mark = cluster.wire.mark()
    with (
        tracing(cluster, "--since", str(mark), "--verbose", "--filter", "api=Metadata") as process,
        connect(cluster.bootstrap_servers) as client,
    ):
        ask(client, METADATA, 9, MetadataRequest(topics=None))
        first, heading, field = lines(process, 3)
    assert "Metadata v9" in first
    assert (heading, field) == ("  request", "    topics: null")


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (["--filter", "api=Prodcue"], 2, "there is no value 'Prodcue'; did you mean 'Produce'?\n  api=Prodcue\n      ^^^^^^^\n"),
        (["--control-token", "wrong"], 1, "this listener needs the header Authorization"),
        (["--control", "nowhere"], 2, "invalid address 'nowhere'"),
        (["--control", "127.0.0.1:1"], 1, "no control listener answers at 127.0.0.1:1"),
    ],
)
def test_mistake_is_explained(
    cluster: Cluster, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, error: str
) -> None:
    monkeypatch.setenv("ODRADEK_CONTROL", str(cluster.control))
    monkeypatch.setenv("ODRADEK_CONTROL_TOKEN", TOKEN)
    assert cli.main(["trace", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert error in captured.err


def test_trace_ends_with_its_cluster() -> None:
    with Cluster(nodes=1, control="127.0.0.1:0", control_token=TOKEN) as cluster, connect(cluster.bootstrap_servers) as client:
        ask(client, METADATA, 9, MetadataRequest(topics=None))
        with tracing(cluster, "--since", "0") as process:
            lines(process, 2)
            cluster.stop()
            process.communicate(timeout=20)
            assert process.returncode == 0


def test_broker_follows_its_own_requests() -> None:
    with running(["--port", "0", "--nodes", "1", "--trace", "--json", "--filter", "api"]) as process:
        with connect(bootstrap_servers(process)) as client:
            ask(client, METADATA, 9, MetadataRequest(topics=None))
        (line,) = lines(process, 1)
        assert json.loads(line)["api"] == "Metadata"
        process.terminate()
        assert process.wait(20) == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--trace", "--filter", "eror"], "did you mean 'error'?"),
        (["--filter", "error"], "--filter, --verbose and --json have no effect without --trace"),
        (["--trace", "--record-exchanges", "0"], "--trace needs the record, which --record-exchanges 0 switches off"),
        (["--record-exchanges", "many"], "invalid number 'many': use 0 to 999999999"),
    ],
)
def test_wrong_option_of_serve_is_refused(arguments: list[str], error: str) -> None:
    with running(["--port", "0", *arguments]) as process:
        output, errors = process.communicate(timeout=20)
    assert (process.returncode, output) == (2, "")
    assert error in errors


def test_events_of_a_stream_become_entries() -> None:
    form = json.dumps(json_of_entry(a_produce(6), frames=True)).encode()
    stream = [b"retry: 1000\n", b"\n", b":\n", b"id: 1\n", b"event: exchange\n", b"data: " + form + b"\n", b'data: {"missed": 3}\n']
    first, second = entries_of(stream)
    assert isinstance(first, Exchange)
    assert first == a_produce(6)
    assert second == Missed(3)


@pytest.mark.parametrize("line", [b"data: {\n", b'data: {"kind": "exchange"}\n', b"data: []\n", b"data: 7\n"])
def test_other_stream_is_refused(line: bytes) -> None:
    with pytest.raises(NoStream, match="the answer is no control listener's"):
        list(entries_of([line]))


def test_signal_before_a_wait_ends_the_trace_soon() -> None:
    """A handler whose exception comes from the first wait that returns stands for a signal that came immediately before that wait."""
    may_end, waits = threading.Event(), 0

    def lines() -> Iterator[bytes]:
        yield b"data: {}"
        may_end.wait()

    def pending(queue: Any, timeout: float) -> Any:
        nonlocal waits
        waits += 1
        if waits > 1:
            raise KeyboardInterrupt
        return got(queue, timeout=timeout)

    got = Queue.get
    found = interruptible(lines(), may_end.set)
    with pytest.MonkeyPatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Queue, "get", pending)
        list(found)
    assert may_end.is_set()
