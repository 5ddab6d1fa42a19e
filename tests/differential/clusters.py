"""The clusters that cases are sent to: our broker in the same process, or any cluster behind sockets (Apache Kafka's or ours)."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from struct import unpack
from typing import Protocol

from odradek.broker.cluster.silence import Silence
from tests.broker.harness import World

from .case import LOCALHOST

STEP_MS = 10
SETTINGS = {
    "auto.create.topics.enable": "false",
    "log.retention.ms": "-1",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.max.size": "3",
    "group.consumer.min.heartbeat.interval.ms": "50",
    "group.consumer.min.session.timeout.ms": "100",
    "group.initial.rebalance.delay.ms": "0",
    "group.max.size": "3",
    "group.min.session.timeout.ms": "100",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
}
"""Settings of every cluster, beside those of the family."""
SASL_LISTENERS = {
    "listeners": "CLIENT://127.0.0.1:9092,SASL://127.0.0.1:9192",
    "listener.security.protocol.map": "CLIENT:PLAINTEXT,SASL:SASL_PLAINTEXT",
}
"""The listeners of our broker in a family with SASL."""


class Connection(Protocol):
    """A connection to a node."""

    def send(self, frames: bytes) -> None: ...

    def receive(self, patience_s: float) -> bytes | None:
        """Returns the next frame without its length, b"" if the connection was closed, None if nothing was received in time."""

    def close(self) -> None: ...


class TargetCluster(Protocol):
    """A cluster of `nodes` nodes that cases are sent to. `texts` maps names to texts that `$name` stands for in all its cases."""

    nodes: int

    @property
    def texts(self) -> Mapping[str, str]: ...

    def connect(self, node: int, host: str = LOCALHOST, listener: str = "") -> Connection: ...

    def now_ms(self) -> int: ...

    def pause(self, milliseconds: int) -> None: ...

    def stop(self, node: int) -> None: ...

    def start(self, node: int) -> None: ...

    def kill(self, node: int) -> None: ...

    def suspend(self, node: int) -> None: ...

    def resume(self, node: int) -> None: ...


class EmulatedConnection:
    def __init__(self, world: World, node: int, host: str, listener: str) -> None:
        self.world, self.client = world, world.client(node, listener, host)

    def send(self, frames: bytes) -> None:
        self.world.advance(1)  # otherwise records of different requests would have the same timestamp
        self.client.feed(frames)

    def close(self) -> None:
        self.client.connection.lost("the client has closed it")
        self.world.core.run_ready()
        self.world.end_turn()

    def receive(self, patience_s: float) -> bytes | None:
        for waited_ms in (0, *[STEP_MS] * int(patience_s * 1000 / STEP_MS)):
            if not self.client.sent and not self.client.closed:
                self.world.advance(waited_ms)
        sent = self.client.sent
        if not sent:
            return b"" if self.client.closed else None
        size = int.from_bytes(sent[:4], "big")
        frame = bytes(sent[4 : 4 + size])
        del sent[: 4 + size]
        return frame


class EmulatedCluster:
    """Our broker, without sockets."""

    def __init__(self, settings: Mapping[str, str], nodes: int = 2, *, sasl: bool = False, as_version: str = "") -> None:
        self.nodes, self.texts = nodes, {"directory": "/directory"}
        placed = {name: text.replace("{directory}", self.texts["directory"]) for name, text in settings.items()}
        own = {**SETTINGS, **(SASL_LISTENERS if sasl else {}), **placed}
        self.world = World(nodes=nodes, settings=own, as_version=as_version or None)

    def connect(self, node: int, host: str = LOCALHOST, listener: str = "") -> EmulatedConnection:
        return EmulatedConnection(self.world, node, host, listener)

    def now_ms(self) -> int:
        return self.world.timers.now_ms

    def pause(self, milliseconds: int) -> None:
        self.world.advance(milliseconds)

    def stop(self, node: int) -> None:
        self.world.cluster.nodes.stop(node)

    def start(self, node: int) -> None:
        self.world.cluster.nodes.start(node)

    def kill(self, node: int) -> None:
        self.world.cluster.nodes.stop(node, graceful=False)

    def suspend(self, node: int) -> None:
        self.world.cluster.nodes.silence(node, Silence.PAUSED)

    def resume(self, node: int) -> None:
        self.world.cluster.nodes.start(node)


class SocketConnection:
    def __init__(self, port: int, host: str) -> None:
        self.socket = socket.create_connection((LOCALHOST, port), 10, (host, 0))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self) -> None:
        self.socket.close()

    def send(self, frames: bytes) -> None:
        with suppress(ConnectionError):
            self.socket.sendall(frames)

    def receive(self, patience_s: float) -> bytes | None:
        self.socket.settimeout(patience_s)
        try:
            head = self._receive(4)
            return self._receive(unpack(">i", head)[0]) if head else b""
        except TimeoutError:
            return None
        except ConnectionError:
            return b""

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                return b""
            data += part
        return bytes(data)


class ServedCluster:
    """A cluster behind sockets, Apache Kafka's or ours. Its addresses are in the order of the node ids.

    `others` are the addresses of further listeners by name.
    """

    def __init__(self, bootstrap_servers: str, others: Mapping[str, str] | None = None) -> None:
        self.ports = {name: _ports(addresses) for name, addresses in {"": bootstrap_servers, **(others or {})}.items()}
        self.nodes = len(self.ports[""])
        self.texts: Mapping[str, str] = {}

    def connect(self, node: int, host: str = LOCALHOST, listener: str = "") -> SocketConnection:
        return SocketConnection(self.ports[listener][node - 1], host)

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def pause(self, milliseconds: int) -> None:
        time.sleep(milliseconds / 1000)

    def stop(self, node: int) -> None:
        raise NotImplementedError("only nodes of a recorded Apache Kafka can be stopped")

    def start(self, node: int) -> None:
        raise NotImplementedError("only nodes of a recorded Apache Kafka can be started")

    def kill(self, node: int) -> None:
        raise NotImplementedError("only nodes of a recorded Apache Kafka can be killed")

    def suspend(self, node: int) -> None:
        raise NotImplementedError("only nodes of a recorded Apache Kafka can be paused")

    def resume(self, node: int) -> None:
        raise NotImplementedError("only nodes of a recorded Apache Kafka can be resumed")


def _ports(addresses: str) -> list[int]:
    return [int(address.rpartition(":")[2]) for address in addresses.split(",")]
