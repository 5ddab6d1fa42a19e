"""Captures of a cluster on sockets: both event loops, starting and stopping, TLS and SASL, rotation, pipes, full disks and slow readers."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
import threading
from collections.abc import Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from odradek import Cluster
from odradek.broker.control_errors import InvalidControl
from odradek.broker.network import capture as capture_module
from odradek.broker.network.capture import CaptureWriter
from odradek.broker.network.tap import _how_broker_ends
from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.wire.capture_options import MIN_FILE_BYTES, CaptureOptions
from odradek.broker.wire.captured_connection import CapturedConnection
from odradek.broker.wire.exchange import Entry, Event, Exchange
from odradek.broker.wire.packets import FIN, RST, Address, canonical
from odradek.broker.wire.reading.capture import CaptureReader
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from tests.protocol.device_nodes import device

from .client import LOOPS, ask, connect, read_exactly, send

PASSWORD = "the-password-of-alice"
ALL = MetadataRequest(topics=None)
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")


@pytest.fixture(params=LOOPS)
def loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODRADEK_LOOP", request.param)


def entries(path: Path) -> list[Entry]:
    with path.open("rb") as stream:
        found = CaptureReader(stream)
        listed = list(found.entries())
    assert found.problem is None
    return listed


def apis(path: Path) -> list[str]:
    return [entry.api for entry in entries(path) if isinstance(entry, Exchange)]


def closings(path: Path) -> list[str]:
    return [entry.text for entry in entries(path) if isinstance(entry, Event) and entry.kind == "connection closed"]


def ends(connection: socket.socket) -> None:
    """Waits until the broker has closed a connection."""
    connection.settimeout(30)
    with contextlib.suppress(ConnectionResetError):
        assert connection.recv(1) == b""


@pytest.mark.usefixtures("loop")
def test_capture_of_a_cluster_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    with Cluster(nodes=2, capture=path) as cluster:
        for address in cluster.bootstrap_servers.split(","):
            with connect(address) as client:
                ask(client, API_VERSIONS, 3, VERSIONS)
                ask(client, METADATA, 9, ALL)
    found = [entry for entry in entries(path) if isinstance(entry, Exchange)]
    assert [(each.node, each.api, each.listener) for each in found] == [
        (node, api, f"127.0.0.{node}:9092") for node in (1, 2) for api in ("ApiVersions", "Metadata")
    ]
    assert all(each.response is not None for each in found)


def test_capture_with_real_addresses_has_them(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    with Cluster(nodes=1, capture=path, capture_addresses="real") as cluster, connect(address := cluster.bootstrap_servers) as client:
        ask(client, API_VERSIONS, 3, VERSIONS)
        host, port = client.getsockname()
    (exchange,) = [entry for entry in entries(path) if isinstance(entry, Exchange)]
    assert (exchange.listener, exchange.peer) == (address, f"{host}:{port}")


def test_capture_options_of_a_cluster_are_checked(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="use canonical or real"):
        Cluster(capture="a.pcapng", capture_addresses="fake")
    with pytest.raises(ValueError, match="no effect without capture"):
        Cluster(capture_addresses="real")
    with pytest.raises(FileNotFoundError), Cluster(capture=tmp_path / "none" / "a.pcapng"):
        pass


@pytest.mark.usefixtures("loop")
def test_capture_shows_a_reset_by_the_client(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    with Cluster(nodes=1, capture=path) as cluster:
        client = connect(cluster.bootstrap_servers)
        ask(client, API_VERSIONS, 3, VERSIONS)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.close()
        while cluster.connections():
            pass
    assert closings(path) == ["RST by the client"]


@pytest.mark.usefixtures("loop")
def test_capture_shows_resets_and_their_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    with Cluster(nodes=1, capture=path) as cluster, connect(cluster.bootstrap_servers) as client:
        ask(client, API_VERSIONS, 3, VERSIONS)
        cluster.reset()
        ends(client)
    assert closings(path) == ["RST by the broker: the state of the cluster was replaced"]


def test_capture_names_faults_waits_and_errors(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    with Cluster(nodes=1, capture=path) as cluster, connect(cluster.bootstrap_servers) as client:
        cluster.fault(api="Metadata", delay_ms=1)
        ask(client, METADATA, 9, ALL)
        ask(client, HEARTBEAT, 4, HeartbeatRequest(group_id="g", generation_id=1, member_id="m"))
    metadata, beat = [entry for entry in entries(path) if isinstance(entry, Exchange)]
    assert metadata.waits and "delay_ms=1" in str(metadata.faults)
    assert beat.errors == ("NOT_COORDINATOR",)
    assert b"error: NOT_COORDINATOR" in path.read_bytes()


# Secrets


def test_capture_of_sasl_over_tls_is_decrypted_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    with Cluster(nodes=1, users={"alice": PASSWORD}, tls=True, capture=path) as cluster:
        import ssl

        context = ssl.create_default_context(cafile=cluster.tls.ca_file)
        with context.wrap_socket(connect(cluster.bootstrap_servers), server_hostname="127.0.0.1") as client:
            ask(client, SASL_HANDSHAKE, 1, SaslHandshakeRequest(mechanism="PLAIN"))
            ask(client, SASL_AUTHENTICATE, 2, SaslAuthenticateRequest(auth_bytes=b"\0alice\0" + PASSWORD.encode()))
            ask(client, METADATA, 9, ALL)
    assert apis(path) == ["SaslHandshake", "SaslAuthenticate", "Metadata"]
    assert PASSWORD.encode() not in path.read_bytes()


def test_capture_of_bare_tokens_has_no_secrets(tmp_path: Path) -> None:
    path, token = tmp_path / "a.pcapng", b"\0alice\0" + PASSWORD.encode()
    with Cluster(nodes=1, users={"alice": PASSWORD}, capture=path) as cluster, connect(cluster.bootstrap_servers) as client:
        ask(client, SASL_HANDSHAKE, 0, SaslHandshakeRequest(mechanism="PLAIN"))
        client.sendall(len(token).to_bytes(4, "big") + token)
        assert read_exactly(client, 4) == bytes(4)
        ask(client, METADATA, 9, ALL)
    assert apis(path) == ["SaslHandshake", "SaslToken", "Metadata"]
    assert PASSWORD.encode() not in path.read_bytes()


# Starting and stopping


@pytest.mark.usefixtures("loop")
def test_capture_starts_and_stops_at_run_time(tmp_path: Path) -> None:
    first, second = tmp_path / "1.pcapng", tmp_path / "2.pcapng"
    with Cluster(nodes=1) as cluster, connect(cluster.bootstrap_servers) as client:
        ask(client, API_VERSIONS, 3, VERSIONS)
        for path in (first, second):
            cluster.start_capture(path)
            ask(client, METADATA, 9, ALL)
            info = cluster.stop_capture()
            assert (info.file, info.written_bytes, info.error) == (str(path), path.stat().st_size, None)
            ask(client, API_VERSIONS, 3, VERSIONS)
    assert apis(first) == apis(second) == ["Metadata"]
    assert not [entry for entry in entries(first) if isinstance(entry, Event)]


def test_capture_that_starts_within_a_frame_is_aligned(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    frame = b"".join(encode_request(METADATA, 9, 7, "c", ALL))
    with Cluster(nodes=1) as cluster, connect(cluster.bootstrap_servers) as client:
        client.sendall(b"".join(encode_request(API_VERSIONS, 3, 6, "c", VERSIONS)) + frame[:9])
        read_exactly(client, int.from_bytes(read_exactly(client, 4), "big"))
        cluster.start_capture(path)
        client.sendall(frame[9:])
        read_exactly(client, int.from_bytes(read_exactly(client, 4), "big"))
    assert apis(path) == ["Metadata"]


# Files and pipes


def actions(capture: CaptureWriter) -> Iterator[partial[None]]:
    """Yields what a connection does, endlessly."""
    connection = CapturedConnection(capture.section, 1, Address(b"\x7f\0\0\1", 40_000), canonical(1))
    yield partial(connection.opened, 1)
    data = b"".join(encode_request(HEARTBEAT, 4, 1, "c", HeartbeatRequest(group_id="g" * 1000, generation_id=1, member_id="m")))
    while True:
        yield partial(connection.data, 1, True, data)


def test_capture_is_rotated_and_each_file_readable(tmp_path: Path) -> None:
    path = tmp_path / "orders.pcapng"
    capture = CaptureWriter(CaptureOptions.of(path, max_bytes=MIN_FILE_BYTES))
    for action, _ in zip(actions(capture), range(2000), strict=False):
        capture.put(capture_module.BATCH_BYTES // 100, action)
    capture.close()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["orders.1.pcapng", "orders.pcapng"]
    assert MIN_FILE_BYTES <= (tmp_path / "orders.1.pcapng").stat().st_size < 4 * MIN_FILE_BYTES
    assert capture.written_bytes > 2_000_000
    for each in tmp_path.iterdir():
        assert set(apis(each)) <= {"Heartbeat"}
    assert apis(tmp_path / "orders.1.pcapng")


def test_rotation_does_not_replace_a_device(tmp_path: Path) -> None:
    before = device(tmp_path / "orders.1.pcapng")
    capture = CaptureWriter(CaptureOptions.of(tmp_path / "orders.pcapng", max_bytes=MIN_FILE_BYTES))
    for action, _ in zip(actions(capture), range(2000), strict=False):
        capture.put(capture_module.BATCH_BYTES // 100, action)
    capture.close()
    assert capture.error == "it is a device, not a regular file"
    assert before.is_char_device()


def test_capture_to_a_pipe_without_reader_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    expected = r"file: cannot write .*/pipe: it is a named pipe, not a regular file"
    with Cluster(nodes=1) as cluster, pytest.raises(InvalidControl, match=expected):
        cluster.start_capture(tmp_path / "pipe")


def written_to(monkeypatch: pytest.MonkeyPatch, path: Path | str) -> None:
    """Lets captures be written to a file that is not regular."""
    monkeypatch.setattr(capture_module, "open_to_write", lambda _: os.open(path, os.O_WRONLY))


def test_full_disk_ends_the_capture_but_not_the_brokers(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    written_to(monkeypatch, "/dev/full")
    if not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full")
    with caplog.at_level(logging.INFO, "odradek.capture"), Cluster(nodes=1) as cluster, connect(cluster.bootstrap_servers) as client:
        cluster.start_capture("/dev/full")
        for _ in range(3):
            ask(client, METADATA, 9, ALL)
        info = cluster.stop_capture()
        assert info.error == "No space left on device"
        ask(client, METADATA, 9, ALL)
    assert [record.getMessage() for record in caplog.records if record.name == "odradek.capture"] == [
        "the capture /dev/full has ended: No space left on device; the brokers continue"
    ]


def test_internal_error_ends_the_capture(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    capture = CaptureWriter(CaptureOptions.of(tmp_path / "a.pcapng"))

    def fail() -> None:
        raise ArithmeticError("a bug")

    capture.put(0, fail)
    capture.close()
    assert capture.ended and "a bug" in str(capture.error)
    assert "an internal error" in caplog.text


def test_slow_reader_makes_a_gap_and_delays_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_module, "QUEUE_BYTES", 20_000)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    written_to(monkeypatch, pipe)
    received, may_read = bytearray(), threading.Event()

    def read() -> None:
        with pipe.open("rb") as stream:
            received.extend(stream.read(4))
            may_read.wait(30)
            received.extend(stream.read())

    reader = threading.Thread(target=read)
    reader.start()
    with Cluster(nodes=1, topics={"t" * 200: 100}) as cluster, connect(cluster.bootstrap_servers) as client:
        cluster.start_capture(pipe)
        for _ in range(200):
            ask(client, METADATA, 9, ALL)
        may_read.set()
        capture: Any = cluster._cluster._server.capture
        while not capture.has_room():
            pass
        ask(client, API_VERSIONS, 3, VERSIONS)
        cluster.stop_capture()
    reader.join(30)
    found = list(CaptureReader(BytesIO(bytes(received))).entries())
    listed = [entry.api for entry in found if isinstance(entry, Exchange)]
    assert listed[-1] == "ApiVersions"
    assert 0 < listed.count("Metadata") < 200
    assert b"are missing; the capture was too slow" in received


def test_reader_of_a_pipe_that_ends_is_one_log_entry(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    written_to(monkeypatch, pipe)
    reader = threading.Thread(target=lambda: pipe.open("rb").close())
    reader.start()
    capture = CaptureWriter(CaptureOptions.of(pipe))
    reader.join()
    for action, _ in zip(actions(capture), range(100), strict=False):
        capture.put(0, action)
    capture.close()
    assert capture.error == "Broken pipe"
    assert len([record for record in caplog.records if record.name == "odradek.capture"]) == 1


def test_async_cluster_writes_a_capture(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"

    async def scenario() -> None:
        async with Cluster(nodes=1, capture=path) as cluster:
            reader, writer = await asyncio.open_connection(*cluster.bootstrap_servers.split(":"))
            writer.write(b"".join(encode_request(API_VERSIONS, 3, 1, "c", VERSIONS)))
            await reader.readexactly(4)
            writer.close()
            await writer.wait_closed()

    asyncio.run(scenario())
    assert apis(path) == ["ApiVersions"]


def test_sending_goes_on_without_capture(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    with Cluster(nodes=1, capture=path) as cluster, connect(cluster.bootstrap_servers) as client:
        send(client, API_VERSIONS, 3, VERSIONS)
        read_exactly(client, int.from_bytes(read_exactly(client, 4), "big"))
        cluster.stop_capture()
        ask(client, METADATA, 9, ALL)
    assert apis(path) == ["ApiVersions"]


class EndingTransport:
    """The transport of a connection that is about to be closed."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def get_extra_info(self, name: str) -> socket.socket:
        assert name == "socket"
        return self._connection


@pytest.mark.skipif(not hasattr(socket, "TCP_INFO"), reason="the system does not tell the state of a connection")
@pytest.mark.parametrize(
    ("sends_end", "client_ends", "how"),
    [(False, False, (RST,)), (True, False, (FIN, RST)), (True, True, (FIN,)), (False, True, (RST,))],
)
def test_captured_end_is_that_of_the_kernel(sends_end: bool, client_ends: bool, how: tuple[int, ...]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            if sends_end:
                accepted.shutdown(socket.SHUT_WR)
                assert client.recv(1) == b""
            if client_ends:
                client.close()
                assert accepted.recv(1) == b""
            connection: Any = SimpleNamespace(leaves_unread=True, resets=False)
            transport: Any = EndingTransport(accepted)
            assert _how_broker_ends(connection, transport) == how
