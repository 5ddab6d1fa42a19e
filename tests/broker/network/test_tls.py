"""TLS on sockets, on both event loops: handshakes that fail affect only their own connection."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import ssl
import subprocess
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random
from struct import pack
from typing import Any

import pytest

from odradek.broker import Cluster
from odradek.broker.network import socket_acceptor
from odradek.broker.network.client_protocol import WRITE_BYTES
from odradek.broker.network.server import Server
from odradek.broker.wire.exchange import Event
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.incremental_alter_configs import (
    INCREMENTAL_ALTER_CONFIGS,
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import a_batch, produce_request
from tests.broker.network.client import LOOPS, ask, connect, send
from tests.broker.tls.certificate_files import PREFIX, authority, inline, prefixed, trusting

VERSIONS = ApiVersionsRequest(client_software_name="", client_software_version="")
KAFKA_PLAINTEXT = pack(">ihhih", 10, API_VERSIONS.key, 0, 1, -1)
FLOOD = 100
BATCH_BYTES, RESPONSE_BYTES = 900_000, 27_000_000
OTHER_BYTES = 500_000
"""Memory that the requests of a test take beside a response, for example because modules are imported."""


@pytest.fixture(params=LOOPS, autouse=True)
def loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODRADEK_LOOP", request.param)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"t": 1}, tls=True, settings={"max.connections": FLOOD + 10}) as cluster:
        yield cluster


def trusting_context(cluster: Cluster) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=cluster.tls.ca_file)


def connect_tls(cluster: Cluster, context: ssl.SSLContext | None = None) -> ssl.SSLSocket:
    context = context or trusting_context(cluster)
    return context.wrap_socket(connect(cluster.bootstrap_servers), server_hostname="localhost")


def alive(connection: socket.socket) -> bool:
    return bool(ask(connection, API_VERSIONS, 0, VERSIONS).api_keys)


def server_of(cluster: Cluster) -> Server:
    return cluster._cluster._server


def ended(connection: socket.socket) -> bytes:
    """Returns what the broker sends before it closes a connection."""
    received = b""
    try:
        while part := connection.recv(1000):
            received += part
    except ConnectionError:
        return received
    return received


def test_tls_serves_large_requests_and_responses(cluster: Cluster) -> None:
    with connect_tls(cluster) as connection:
        batch = a_batch(bytes(900_000))
        for _ in range(3):
            answer = ask(connection, PRODUCE, 9, produce_request("t", batch))
            assert not answer.responses[0].partition_responses[0].error_code


@pytest.mark.parametrize("tls", [True, False], ids=["tls", "plain"])
def test_reader_that_does_not_read_keeps_little_memory(tls: bool) -> None:
    """The rest of its response stays in the log. If it was encrypted at once, each such reader would cost as much memory again."""
    fetch = FetchRequest(
        max_wait_ms=0,
        min_bytes=1,
        max_bytes=1 << 30,
        topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 30)])],
    )
    with ExitStack() as stack:
        cluster = stack.enter_context(Cluster(nodes=1, topics={"t": 1}, tls=tls, settings={"fetch.max.bytes": str(1 << 30)}))
        writer = stack.enter_context(connect_tls(cluster) if tls else connect(cluster.bootstrap_servers))
        for _ in range(RESPONSE_BYTES // BATCH_BYTES):
            ask(writer, PRODUCE, 9, produce_request("t", a_batch(bytes(BATCH_BYTES))))
        reader = stack.enter_context(deaf_connection(cluster.bootstrap_servers))
        if tls:
            reader = stack.enter_context(trusting_context(cluster).wrap_socket(reader, server_hostname="localhost"))
        tracemalloc.start()
        stack.callback(tracemalloc.stop)
        send(reader, FETCH, 11, fetch)
        for _ in range(50):
            assert alive(writer)
        assert any(client.connection.output or not client.connection.writable for client in list(server_of(cluster).listeners._clients))
        assert tracemalloc.get_traced_memory()[0] <= WRITE_BYTES + OTHER_BYTES


def deaf_connection(address: str) -> socket.socket:
    """Connects with a small receive buffer, so that the system takes little of what is never read."""
    host, port = address.rsplit(":", 1)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect((host, int(port)))
    return connection


@pytest.mark.parametrize("data", [KAFKA_PLAINTEXT, b"GET / HTTP/1.1\r\n\r\n"], ids=["kafka", "http"])
def test_plaintext_on_a_tls_port_closes_and_is_logged(cluster: Cluster, data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with connect_tls(cluster) as canary, connect(cluster.bootstrap_servers) as connection:
        connection.sendall(data)
        assert ended(connection) == b""
        assert "this looks like plaintext (" in caplog.text and "but the listener is SSL" in caplog.text
        assert alive(canary)


def test_tls_on_a_plaintext_port_closes_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with Cluster(nodes=1) as cluster, connect(cluster.bootstrap_servers) as plain:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")
        assert "this looks like TLS, but the listener is PLAINTEXT" in caplog.text


def test_oversized_tls_record_gets_an_alert(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with connect_tls(cluster) as canary, connect(cluster.bootstrap_servers) as connection:
        connection.sendall(b"\x16\x03\x01\xff\xff" + bytes(10))
        alert = connection.recv(7)
        assert (alert[:1], alert[-1]) == (b"\x15", 22)  # record_overflow
        assert alive(canary)


def test_unknown_ca_of_a_client_is_told_by_an_alert() -> None:
    settings = {"listeners": "SSL://127.0.0.1:0", "ssl.client.auth": "required", **inline(authority().issue("localhost", ["localhost"]))}
    with Cluster(nodes=1, settings=settings | trusting(authority("other"))) as cluster:
        context = ssl.create_default_context(cadata=authority().pem.decode())
        with (
            connect_tls(cluster, context) as connection,
            pytest.raises(ssl.SSLError, match=r"ALERT_CERTIFICATE_REQUIRED|certificate required"),
        ):
            alive(connection)


def test_unfinished_handshakes_end_at_the_time_limit(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect_tls(cluster) as canary:
        monkeypatch.setattr(socket_acceptor, "HANDSHAKE_TIMEOUT_S", 0.05)  # now, because the canary may need longer
        for begun in (b"", b"\x16\x03\x01\x02"):
            with connect(cluster.bootstrap_servers) as connection:
                connection.sendall(begun)
                assert ended(connection) == b""
        assert alive(canary)


def test_unfinished_handshakes_count_as_connections(cluster: Cluster) -> None:
    """At max.connections accepting is paused, and a connection that ends makes room, as without TLS."""
    with connect_tls(cluster) as canary, ExitStack() as begun:
        for _ in range(FLOOD + 9):
            begun.enter_context(connect(cluster.bootstrap_servers))
        while not server_of(cluster).cluster.brokers[1].connections.full:
            assert alive(canary)
        late = connect(cluster.bootstrap_servers)
        begun.close()
        with trusting_context(cluster).wrap_socket(late, server_hostname="localhost") as served:
            assert alive(served) and alive(canary)


def test_unfinished_handshakes_do_not_delay_a_stop(cluster: Cluster) -> None:
    begun = [connect(cluster.bootstrap_servers) for _ in range(10)]
    with connect_tls(cluster) as canary:
        assert alive(canary)
        cluster.stop_node(1)
        for connection in (*begun, canary):
            assert ended(connection) == b""
            connection.close()
    connections = server_of(cluster).cluster.brokers[1].connections
    assert not connections._hosts
    cluster.start_node(1)
    with connect_tls(cluster) as again:
        assert alive(again)


def test_close_without_notify_releases_the_connection(cluster: Cluster) -> None:
    connection = connect_tls(cluster)
    assert alive(connection)
    connection.close()
    with connect_tls(cluster) as canary:
        while server_of(cluster).cluster.brokers[1].connections._hosts.total() > 1:
            assert alive(canary)


def alter(connection: socket.socket, changes: dict[str, str]) -> Any:
    configs = [AlterableConfig(name=name, config_operation=0, value=value) for name, value in changes.items()]
    resource = AlterConfigsResource(resource_type=4, resource_name="1", configs=configs)
    return ask(
        connection, INCREMENTAL_ALTER_CONFIGS, 1, IncrementalAlterConfigsRequest(resources=[resource], validate_only=False)
    ).responses[0]


def test_damaged_handshakes_leave_other_connections_undisturbed(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    seed = int(os.environ.get("SEED", "0")) or Random().getrandbits(32)
    print(f"SEED={seed}")  # noqa: T201
    random, hello = Random(seed), client_hello()
    with connect_tls(cluster) as canary:
        for _ in range(300):
            damaged = bytearray(hello)
            for _ in range(random.randrange(4)):
                damaged[random.randrange(len(damaged))] = random.randrange(256)
            with connect(cluster.bootstrap_servers) as connection:
                connection.sendall(damaged[: random.randrange(1, len(damaged) + 1)])
            assert alive(canary)
    assert not caplog.records, caplog.text


def client_hello() -> bytes:
    outgoing = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


def test_certificate_is_replaced_at_run_time() -> None:
    old, new = (authority().issue("localhost", ["localhost"]) for _ in range(2))
    with Cluster(nodes=1, settings={"listeners": "SSL://127.0.0.1:0", **prefixed(inline(old))}) as cluster:
        context = ssl.create_default_context(cadata=authority().pem.decode())
        with connect_tls(cluster, context) as before:
            shown = before.getpeercert(True)
            refused = alter(before, {f"{PREFIX}ssl.keystore.key": authority().issue("x").key.decode()})
            assert refused.error_code == 42 and "cannot be used" in refused.error_message
            assert not alter(before, prefixed(inline(new))).error_code
            with connect_tls(cluster, context) as after:
                assert shown != after.getpeercert(True)
                assert alive(before) and alive(after)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
@pytest.mark.parametrize(
    ("option", "served"), [("-tls1_2", True), ("-tls1_3", True), ("-tls1_1", False), ("-tls1", False)], ids=lambda value: str(value)
)
def test_openssl_finds_only_enabled_versions(cluster: Cluster, option: str, served: bool) -> None:
    command = ["openssl", "s_client", "-connect", cluster.bootstrap_servers, "-CAfile", cluster.tls.ca_file, "-verify_return_error", option]
    probed = subprocess.run([*command, "-cipher", "ALL:@SECLEVEL=0"], input=b"", capture_output=True, timeout=20)
    assert (probed.returncode == 0) == served, probed.stderr


def test_openssl_cannot_renegotiate(cluster: Cluster) -> None:
    context = trusting_context(cluster)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with connect_tls(cluster, context) as connection:
        assert connection.version() == "TLSv1.2" and alive(connection)
    listener = server_of(cluster).cluster.brokers[1].listeners["SSL"]
    contexts = server_of(cluster).security.tls
    assert contexts is not None
    built = contexts.get(server_of(cluster).cluster.brokers[1], listener)
    assert built is not None and built.options & ssl.OP_NO_RENEGOTIATION


def test_invalid_key_store_ends_the_start(tmp_path: Path) -> None:
    settings = {"listeners": "SSL://127.0.0.1:0", "ssl.keystore.location": str(tmp_path / "none.jks")}
    with pytest.raises(ValueError, match=r"cannot read ssl.keystore.location"):
        Cluster(nodes=1, settings=settings).start()


def test_files_are_deleted_when_the_cluster_stops(cluster: Cluster) -> None:
    directory = Path(cluster.tls.ca_file).parent
    cluster.stop()
    assert not directory.exists()
    with pytest.raises(ValueError, match="not running"):
        _ = cluster.tls


def test_principal_of_a_client_is_its_distinguished_name(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    settings = {"ssl.client.auth": "requested", "ssl.principal.mapping.rules": "RULE:^CN=(c.*)$/$1/U"}
    with Cluster(nodes=1, tls=True, settings=settings) as cluster:
        context = trusting_context(cluster)
        with connect_tls(cluster, context) as unknown:
            assert alive(unknown)
            assert principals(cluster) == ["User:ANONYMOUS"]
        context.load_cert_chain(cluster.tls.client_certificate, cluster.tls.client_key)
        with connect_tls(cluster, context) as known:
            assert alive(known)
            assert "User:CLIENT" in principals(cluster)
    with Cluster(nodes=1, tls=True, settings=settings | {"ssl.principal.mapping.rules": "RULE:^OU=(.*)$/$1/"}) as cluster:
        context = trusting_context(cluster)
        context.load_cert_chain(cluster.tls.client_certificate, cluster.tls.client_key)
        with connect_tls(cluster, context) as refused:
            assert ended(refused) == b""
        assert "no rule of ssl.principal.mapping.rules applies to CN=client" in caplog.text


def principals(cluster: Cluster) -> list[str]:
    return [client.connection.client.principal for client in list(server_of(cluster).listeners._clients)]


def failures(cluster: Cluster) -> list[str]:
    return [entry.text for entry in cluster.wire.since() if isinstance(entry, Event) and entry.kind == "handshake failed"]


def ends(cluster: Cluster) -> list[str]:
    cluster.wait_until(lambda: not cluster.connections())
    return [entry.text for entry in cluster.wire.since() if isinstance(entry, Event) and entry.kind == "connection closed"]


def test_record_says_that_a_client_does_not_trust_the_authority(cluster: Cluster) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        connect_tls(cluster, ssl.create_default_context())
    cluster.wait_until(lambda: failures(cluster))
    (text,) = failures(cluster)
    assert text.startswith("the client does not trust the authority (CA) of the broker's certificate (")
    assert ends(cluster) == ["FIN by the client"]


def test_record_says_that_plaintext_came_to_a_tls_port(cluster: Cluster) -> None:
    with connect(cluster.bootstrap_servers) as connection:
        connection.sendall(KAFKA_PLAINTEXT)
        assert ended(connection) == b""
    (text,) = failures(cluster)
    assert text.startswith("this looks like plaintext (") and text.endswith("but the listener is SSL")
    assert ends(cluster) == ["FIN by the broker: the TLS handshake failed"]


def test_record_names_the_client_that_leaves_without_a_handshake(cluster: Cluster) -> None:
    connect(cluster.bootstrap_servers).close()
    assert ends(cluster) == ["FIN by the client"]
    assert failures(cluster) == []


def test_record_says_that_tls_came_to_a_plaintext_port() -> None:
    with Cluster(nodes=1) as cluster, connect(cluster.bootstrap_servers) as plain:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            ssl.create_default_context().wrap_socket(plain, server_hostname="localhost")
        (text,) = ends(cluster)
        assert "by the broker: this looks like TLS, but the listener is PLAINTEXT: a frame of " in text
        diagram = cluster.wire.diagram()
        assert "this looks like TLS, but the listener is PLAINTEXT" in diagram
