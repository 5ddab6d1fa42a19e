"""Captures for tests: written in process by clients of the test harness, and read by tshark.

`CapturedWorld` writes what its clients send and receive to a capture, one packet for each write. `tshark_frames` returns what Wireshark's
dissector finds in the frames of a file.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from odradek.broker.wire.captured_connection import CapturedConnection, Section
from odradek.broker.wire.packets import FIN, RST, Address, canonical
from tests.broker.harness import START_MS, Client, World

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt-get install tshark)")
CLIENT_IP = b"\x7f\0\0\1"


class CapturedWorld(World):
    """A cluster whose clients are captured. Every read and write is a nanosecond later than the one before it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.section = Section("tests")
        self.time_ns = START_MS * 1_000_000
        self._port = 40_000

    def client(self, node_id: int = 1, listener: str = "", host: str = "127.0.0.1") -> CapturedClient:
        self._port += 1
        return CapturedClient(self, node_id, listener or next(iter(self.cluster.brokers[node_id].listeners)), host, self._port)

    def tick(self) -> int:
        """Returns the time of the next packet."""
        self.time_ns += 1000
        return self.time_ns

    def save(self, path: Path) -> Path:
        """Writes the capture to a file."""
        path.write_bytes(b"".join(self.section.blocks))
        return path


class CapturedClient(Client):
    """A client whose bytes are captured."""

    def __init__(self, world: CapturedWorld, node_id: int, listener: str, host: str, port: int) -> None:
        self._captured_world = world
        self.captured = CapturedConnection(world.section, node_id, Address(CLIENT_IP, port), canonical(node_id))
        self.captured.opened(world.tick())
        self._is_over = False
        super().__init__(world, node_id, listener, host)

    def feed(self, data: bytes) -> None:
        self.captured.data(self._captured_world.tick(), True, data)
        super().feed(data)
        if self.closed is not None and not self._is_over:
            self._is_over = True
            how = (RST,) if self.connection.resets else (FIN,)
            self.captured.ended(self._captured_world.tick(), by_client=False, how=how, reason=self.closed)

    def disconnect(self) -> None:
        """Closes the connection."""
        self._is_over = True
        self.captured.ended(self._captured_world.tick(), by_client=True, how=(FIN,), reason="")
        self.connection.lost("the client has disconnected")

    def _flush(self) -> None:
        if output := b"".join(self.connection.take_output()):
            self.captured.data(self._captured_world.tick(), False, output)
            self.sent += output
        self.connection.flushed()


class TsharkFrame(NamedTuple):
    """The Kafka frames that tshark has found to be complete with one packet. Lists have an item for each Kafka frame."""

    stream: int
    from_client: bool
    keys: list[int]
    versions: list[int]
    correlation_ids: list[int]
    errors: list[int]


FIELDS = (
    "tcp.stream",
    "tcp.dstport",
    "kafka.api_key",
    "kafka.api_version",
    "kafka.response.version",
    "kafka.correlation_id",
    "kafka.error",
)


def tshark(path: Path, *options: str) -> str:
    """Returns the output of tshark for a file."""
    assert TSHARK is not None
    done = subprocess.run([TSHARK, "-r", str(path), *options], capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def tshark_frames(path: Path) -> Iterator[TsharkFrame]:
    """Yields what tshark finds in a capture with canonical addresses."""
    output = tshark(path, "-Y", "kafka", "-T", "fields", "-E", "occurrence=a", "-E", "separator=/t", *(f"-e{name}" for name in FIELDS))
    for line in output.splitlines():
        stream, port, *lists = line.split("\t")
        keys, asked, answered, ids, errors = ([int(text) for text in texts.split(",") if text] for texts in lists)
        yield TsharkFrame(int(stream), port == "9092", keys, asked + answered, ids, list(dict.fromkeys(filter(None, errors))))


def expert_items(path: Path) -> dict[str, int]:
    """Returns the expert items of level warning and above, with their frequencies."""
    found = re.findall(r"^ +(\d+) +\w+ +(\w+) +(.+)$", tshark(path, "-q", "-z", "expert,warn"), re.MULTILINE)
    return {f"{protocol}: {text}": int(count) for count, protocol, text in found}
