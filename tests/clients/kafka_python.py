"""kafka-python in a child process, because it does not close sockets of refused connections, and the garbage collector warns of them."""

from __future__ import annotations

import sys
from dataclasses import replace

import kafka
from kafka.admin import KafkaAdminClient, NewTopic
from kafka.future import Future

from tests.clients.child import Child, ChildClient, serve
from tests.clients.client import HEARTBEAT_INTERVAL_MS, METADATA_MAX_AGE_MS, PATIENCE_S, REQUEST_TIMEOUT_MS, FaithfulClient, Record

LEAST_POLL_S = 1.0  # if a poll ends between JoinGroup and SyncGroup, kafka-python loses the answer of SyncGroup


class KafkaPython(ChildClient):
    def __init__(self) -> None:
        super().__init__(Child([sys.executable, "-m", __name__]))

    def written(self, record: Record) -> Record:
        """kafka-python reads null header values but cannot write them."""
        return replace(record, headers=tuple((name, value or b"") for name, value in record.headers))


class InProcess(FaithfulClient):
    def nodes(self, bootstrap_servers: str) -> dict[int, str]:
        with _admin(bootstrap_servers) as admin:
            return {broker["broker_id"]: f"{broker['host']}:{broker['port']}" for broker in admin.describe_cluster()["brokers"]}

    def create_topic(self, bootstrap_servers: str, topic: str) -> None:
        with _admin(bootstrap_servers) as admin:
            admin.create_topics([NewTopic(topic, num_partitions=2, replication_factor=2)])

    def producer(
        self, bootstrap_servers: str, topic: str, codec: str, idempotent: bool, request_timeout_ms: int = REQUEST_TIMEOUT_MS
    ) -> KafkaPythonProducer:
        return KafkaPythonProducer(bootstrap_servers, topic, codec, idempotent, request_timeout_ms)

    def member(self, bootstrap_servers: str, topic: str, group: str) -> KafkaPythonMember:
        return KafkaPythonMember(bootstrap_servers, topic, group)

    def close(self) -> None:
        pass


class KafkaPythonProducer:
    def __init__(self, bootstrap_servers: str, topic: str, codec: str, idempotent: bool, request_timeout_ms: int) -> None:
        self._topic = topic
        self._sent: list[Future] = []
        self._producer = kafka.KafkaProducer(
            bootstrap_servers=bootstrap_servers,
            acks="all",
            compression_type=None if codec == "none" else codec,
            enable_idempotence=idempotent,
            request_timeout_ms=request_timeout_ms,
            linger_ms=5,
            metadata_max_age_ms=METADATA_MAX_AGE_MS,
        )

    def send(self, records: list[Record]) -> None:
        self._sent += [
            self._producer.send(
                self._topic,
                **record.keywords,
            )
            for record in records
        ]

    def flush(self) -> None:
        self._producer.flush(PATIENCE_S)
        for future in self._sent:
            future.get(PATIENCE_S)
        self._sent = []

    def close(self) -> None:
        self._producer.close(PATIENCE_S)


class KafkaPythonMember:
    def __init__(self, bootstrap_servers: str, topic: str, group: str) -> None:
        self._consumer = kafka.KafkaConsumer(
            topic,
            bootstrap_servers=bootstrap_servers,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=HEARTBEAT_INTERVAL_MS,
            metadata_max_age_ms=METADATA_MAX_AGE_MS,
        )

    def poll(self, timeout_s: float) -> list[Record]:
        return [
            Record(got.partition, got.key, got.value, tuple(got.headers), got.timestamp)
            for records in self._consumer.poll(timeout_ms=int(max(timeout_s, LEAST_POLL_S) * 1000)).values()
            for got in records
        ]

    def assignment(self) -> list[int]:
        return sorted(partition.partition for partition in self._consumer.assignment())

    def commit(self) -> None:
        self._consumer.commit()

    def close(self) -> None:
        self._consumer.close(autocommit=False)


def _admin(bootstrap_servers: str) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=bootstrap_servers)


if __name__ == "__main__":
    serve(InProcess(), sys.stdin, sys.stdout)
