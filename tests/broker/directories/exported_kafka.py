"""Runs Apache Kafka on an exported directory, on ports that the kernel chooses instead of the exported ones."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from struct import pack, unpack
from time import monotonic

from confluent_kafka import Consumer, KafkaException, TopicPartition

from tests.apache_kafka import command, reserve_port

_ADDRESS = re.compile(r"127\.0\.0\.1:(\d+)")
METADATA = pack(">hhih5si", 3, 1, 1, 5, b"probe", 0)  # Metadata v1 of no topic
PATIENCE_S = 120


class KafkaEnded(Exception):
    """Apache Kafka has ended at its start. The text is the last error in its log."""


def properties_of(start_command: str) -> Path:
    """Returns the path of the server.properties that a start command of an export names."""
    return Path(start_command.split("'")[1])


@contextmanager
def exported_kafka(start_commands: Sequence[str]) -> Iterator[str]:
    """Provides the bootstrap servers of a cluster of Apache Kafka with the exported nodes. Their logs are beside server.properties.

    Raises KafkaEnded.
    """
    reserved: dict[str, socket.socket] = {}
    processes = []

    def on_free_port(found: re.Match[str]) -> str:
        if found[1] not in reserved:
            reserved[found[1]] = reserve_port()
        return f"127.0.0.1:{reserved[found[1]].getsockname()[1]}"

    try:
        for file in map(properties_of, start_commands):
            file.write_text(_ADDRESS.sub(on_free_port, file.read_text()))
            with (file.parent / "server.log").open("wb") as log:
                processes.append(subprocess.Popen(command("kafka.Kafka", str(file)), stdout=log, stderr=log))
        port = reserved["9092"].getsockname()[1]
        deadline = monotonic() + PATIENCE_S
        while _live_brokers(port) < len(processes):
            assert monotonic() < deadline, "Apache Kafka does not start on the exported directory"
            if any(process.poll() is not None for process in processes):
                raise KafkaEnded(_last_error(start_commands))
        yield f"127.0.0.1:{port}"
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
        for each in reserved.values():
            each.close()


def _last_error(start_commands: Sequence[str]) -> str:
    logs = "".join((properties_of(each).parent / "server.log").read_text() for each in start_commands)
    return next((line for line in reversed(logs.splitlines()) if re.search(" ERROR |Exception", line)), logs[-1000:])


def _live_brokers(port: int) -> int:
    """Returns the number of brokers that a node knows, 0 while it does not answer."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.sendall(pack(">i", len(METADATA)) + METADATA)
            answer = connection.recv(12, socket.MSG_WAITALL)
    except OSError:
        return 0
    return int(unpack(">iii", answer)[2]) if len(answer) == 12 else 0


def wait_for_leaders(servers: str, topics: Sequence[str]) -> None:
    """Returns when the leaders of all partitions answer, because a broker that has just started does not know all of them."""
    consumer, deadline = Consumer({"bootstrap.servers": servers, "group.id": "waiting"}), monotonic() + PATIENCE_S
    for name in topics:
        for index in consumer.list_topics(name).topics[name].partitions:
            while not _is_led(consumer, TopicPartition(name, index)):
                assert monotonic() < deadline, f"{name}-{index} has no leader"
    consumer.close()


def _is_led(consumer: Consumer, partition: TopicPartition) -> bool:
    try:
        consumer.get_watermark_offsets(partition, 10)
    except KafkaException:
        return False
    return True
