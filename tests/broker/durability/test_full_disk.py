"""A cluster whose data directory is on a disk that is full: a small file system in memory."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from tests.kills.run import KilledCluster
from tests.storage.directories import recording
from tests.waiting import PATIENCE_S, until

DISK = "40m"
ROOM_BYTES = 8 << 20
RECORD_CHARACTERS = 50_000
TOPIC = "orders"
FAST = {"message.send.max.retries": 0, "linger.ms": 0, "log_level": 0, "message.timeout.ms": 20_000}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"mounting a file system is not permitted: {error}")
    yield folder
    subprocess.run(["umount", folder], check=True)


class Written:
    """A producer of large records that remembers which were acknowledged."""

    def __init__(self, servers: str) -> None:
        self._producer = Producer({"bootstrap.servers": servers, **FAST})
        self._number = 0
        self.acknowledged: list[str] = []

    def produce(self) -> int:
        """Produces one record, and returns its error code, 0 without an error."""
        self._number += 1
        value, codes = f"{self._number:0{RECORD_CHARACTERS}}", []

        def delivered(error: KafkaError | None, _: Message) -> None:
            codes.append(error.code() if error else 0)

        self._producer.produce(TOPIC, value, partition=0, on_delivery=delivered)
        assert self._producer.flush(PATIENCE_S) == 0
        if not codes[0]:
            self.acknowledged.append(value)
        return codes[0]


def fill(file: Path) -> None:
    """Writes a file until its disk has no room for one more byte."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT)
    try:
        for size in (1 << 20, 4096, 1):
            while True:
                try:
                    os.write(descriptor, bytes(size))
                except OSError:
                    break
    finally:
        os.close(descriptor)


def creates(servers: str, topic: str, partitions: int = 1, timeout_s: float = PATIENCE_S) -> bool:
    """Returns whether the creation of a topic was acknowledged in time."""
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    try:
        admin.create_topics([NewTopic(topic, partitions, 1)], request_timeout=timeout_s)[topic].result()
    except KafkaException:
        return False
    return True


@pytest.mark.clients
def test_full_disk_loses_nothing_and_heals_when_there_is_room(disk: Path) -> None:
    room = disk / "room"
    room.write_bytes(bytes(ROOM_BYTES))
    cluster = KilledCluster(disk / "data", {"auto.create.topics.enable": "false"})
    cluster.log = disk.with_name("log")
    cluster.start()
    servers = cluster.bootstrap_servers
    try:
        assert creates(servers, TOPIC)
        written = Written(servers)
        while not (code := written.produce()):
            assert len(written.acknowledged) * RECORD_CHARACTERS < 40 << 20, "the disk is never full"
        assert code == KafkaError.KAFKA_STORAGE_ERROR
        fill(disk / "more")
        assert written.produce() == KafkaError.KAFKA_STORAGE_ERROR
        # Its records need more room than there is in the last block of a file.
        assert not creates(servers, "unwritten", partitions=200, timeout_s=2.0)

        (disk / "more").unlink()
        room.unlink()
        before = len(written.acknowledged)
        until(lambda: written.produce() == 0)
        assert creates(servers, "created")

        cluster.end(signal.SIGKILL)
        cluster.start()
        rows = recording.read(servers, TOPIC, "read_uncommitted")
        assert [row[4] for row in rows[:-1]] == written.acknowledged
        assert len(written.acknowledged) > before
        assert "created" in AdminClient({"bootstrap.servers": servers}).list_topics(timeout=PATIENCE_S).topics
    finally:
        cluster.end(signal.SIGKILL)
    assert "is full: Produce is refused with KAFKA_STORAGE_ERROR" in cluster.log.read_text()
