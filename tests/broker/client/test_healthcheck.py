"""The verdict of the health check on canned responses. test_cli.py runs it against a real cluster."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from odradek import Cluster
from odradek.broker.cli import main
from odradek.broker.client.healthcheck import Unhealthy, check, check_listeners
from odradek.broker.settings.properties import InvalidConfig
from tests.broker.http_server import http_server

Answer = Callable[[int, int], bytes | None]
"""Returns the body of the response for (API key, own port), or None to close the connection."""


@contextmanager
def server(answer: Answer) -> Iterator[int]:
    """Runs a server that answers one request per connection, and yields its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]

        def serve() -> None:
            while True:
                connection, _ = listening.accept()
                with connection, connection.makefile("rb") as requests:
                    size = requests.read(4)
                    if not size:
                        return
                    request = requests.read(int.from_bytes(size))
                    body = answer(int.from_bytes(request[:2]), port)
                    if body is not None:
                        connection.sendall(struct.pack(">i", 4 + len(body)) + request[4:8] + body)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield port
        finally:
            socket.create_connection(("127.0.0.1", port)).close()  # an empty request ends it
            thread.join()


def metadata(*brokers: tuple[int, str, int]) -> bytes:
    entries = (struct.pack(f">ih{len(host)}sih1s", node_id, len(host), host.encode(), port, 1, b"r") for node_id, host, port in brokers)
    return struct.pack(">i", len(brokers)) + b"".join(entries) + struct.pack(">ii", 1, 0)


def healthy(api_key: int, port: int) -> bytes:
    return metadata((1, "127.0.0.1", port), (2, "localhost", port)) if api_key == 3 else struct.pack(">hi", 0, 0)


def refused(answer: Answer) -> str:
    with server(answer) as port, pytest.raises(Unhealthy) as error:
        check("127.0.0.1", port)
    return str(error.value).replace(str(port), "PORT")


def test_check_of_a_healthy_cluster_passes() -> None:
    with server(healthy) as port:
        check("127.0.0.1", port)


def test_check_without_a_listener_fails() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(Unhealthy, match=rf"127\.0\.0\.1:{port} does not answer: .*refused"):
        check("127.0.0.1", port)


def test_check_fails_if_an_advertised_broker_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        dead = free.getsockname()[1]
    reason = refused(lambda key, port: metadata((1, "127.0.0.1", port), (2, "127.0.0.1", dead)) if key == 3 else healthy(key, port))
    assert reason.startswith(f"broker 2 at 127.0.0.1:{dead} does not answer: ")


def test_check_fails_for_an_error_response() -> None:
    reason = refused(lambda key, port: healthy(key, port) if key == 3 else struct.pack(">hi", 35, 0))
    assert reason == "broker 1 at 127.0.0.1:PORT answered ApiVersions with error code 35"


def test_check_fails_for_malformed_responses() -> None:
    assert refused(lambda key, port: metadata()) == "127.0.0.1:PORT returned an empty list of brokers"
    assert refused(lambda key, port: None) == "127.0.0.1:PORT does not answer: the broker has closed the connection"
    assert refused(lambda key, port: struct.pack(">iih", 1, 1, 500)) == "127.0.0.1:PORT returned a malformed Metadata response"
    assert refused(lambda key, port: struct.pack(">iih", 1, 1, -1)) == "127.0.0.1:PORT returned a malformed Metadata response"


def test_check_fails_for_another_protocol() -> None:
    with http_server() as address, pytest.raises(Unhealthy, match="does not use the Kafka protocol"):
        check(*address)


def test_command_checks_the_cluster_of_the_environment(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("KAFKA_LISTENERS", "PLAINTEXT://127.0.0.1:1")  # which BOOTSTRAP_SERVERS precedes
    with server(healthy) as port:
        monkeypatch.setenv("BOOTSTRAP_SERVERS", f"127.0.0.1:{port}")
        assert main(["healthcheck"]) == 0
    assert main(["healthcheck"]) == 1
    assert capsys.readouterr().err.startswith(f"odradek: 127.0.0.1:{port} does not answer: ")
    monkeypatch.setenv("BOOTSTRAP_SERVERS", "")
    assert main(["healthcheck"]) == 1
    assert capsys.readouterr().err.startswith("odradek: listener PLAINTEXT at 127.0.0.1:1 does not answer: ")


def test_invalid_bootstrap_servers_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("BOOTSTRAP_SERVERS", "9092")
    assert main(["healthcheck"]) == 2
    assert capsys.readouterr().err == "odradek: BOOTSTRAP_SERVERS: invalid address '9092': use HOST:PORT, such as 127.0.0.1:9092\n"


def test_check_listeners_requests_every_listener() -> None:
    with server(healthy) as one, server(healthy) as other:
        check_listeners({"KAFKA_LISTENERS": f"A://127.0.0.1:{one},B://:{other},CONTROLLER://:1", "KAFKA_ADVERTISED_LISTENERS": "A://h:1"})
        check_listeners({"KAFKA_CFG_ADVERTISED_LISTENERS": f"A://nowhere.invalid:{one}"})
        check_listeners({"KAFKA_PORT": str(one), "KAFKA_ADVERTISED_HOST_NAME": "nowhere.invalid"})


def test_listener_that_answers_with_an_error_is_unhealthy() -> None:
    with (
        server(healthy) as good,
        server(lambda key, port: struct.pack(">hi", 35, 0)) as bad,
        pytest.raises(Unhealthy, match=f"^listener B at 127.0.0.1:{bad} answered ApiVersions with error code 35$"),
    ):
        check_listeners({"KAFKA_LISTENERS": f"A://:{good},B://0.0.0.0:{bad}"})


def test_invalid_listener_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="invalid listener '9092' in listeners"):
        check_listeners({"KAFKA_LISTENERS": "9092"})


@pytest.mark.sockets
@pytest.mark.parametrize("name", ["SSL", "EXTERNAL"])
def test_listener_with_tls_may_have_any_certificate(name: str) -> None:
    with Cluster(nodes=1, tls=True) as cluster:
        port = cluster.bootstrap_servers.rpartition(":")[2]
        environ = {"KAFKA_LISTENERS": f"{name}://0.0.0.0:{port}", "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": f"{name}:SSL"}
        check_listeners(environ)
        with pytest.raises(Unhealthy, match=f"listener {name} at 127.0.0.1:{port} does not answer"):
            check_listeners(environ | {"KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": f"{name}:PLAINTEXT"})


@pytest.mark.sockets
@pytest.mark.parametrize("as_version", [None, "2.1"])
def test_check_of_a_secured_cluster_authenticates(tmp_path: Path, capsys: pytest.CaptureFixture[str], as_version: str | None) -> None:
    with Cluster(nodes=2, tls=True, users={"alice": "secret"}, as_version=as_version) as cluster:
        properties = tmp_path / "client.properties"
        server = cluster.bootstrap_servers.split(",")[0]
        command = ["healthcheck", "--bootstrap-server", server, "--command-config", str(properties)]
        settings = {name: value for name, value in cluster.client_config("java").items() if name != "bootstrap.servers"}
        properties.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        assert main(command) == 0
        properties.write_text(properties.read_text().replace("secret", "wrong"))
        assert main(command) == 1
        assert "authentication failed: " in capsys.readouterr().err
        assert main(command[:3]) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read --command-config"),
        ("security.protocol=TLS", "security.protocol must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, not TLS"),
    ],
)
def test_invalid_command_config_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, message: str) -> None:
    properties = tmp_path / "client.properties"
    if content is not None:
        properties.write_text(content)
    assert main(["healthcheck", "--command-config", str(properties)]) == 2
    assert message in capsys.readouterr().err
