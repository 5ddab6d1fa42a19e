"""The progress of groups: of programs, and of a group of our own."""

from __future__ import annotations

from confluent_kafka import Consumer

from odradek import Cluster
from tests.programs.program import PATIENCE_S


def wait_until_consumed(cluster: Cluster, group_id: str, topic: str) -> None:
    """Waits until a group has committed all records of a topic. It may have further topics that it does not commit, such as changelogs."""

    def consumed() -> bool:
        offsets = [each for group in cluster.groups() if group.group_id == group_id for each in group.offsets if each.topic == topic]
        return bool(offsets) and not any(each.lag for each in offsets)

    cluster.wait_until(consumed, timeout_s=PATIENCE_S)


def consume(cluster: Cluster, group_id: str, topic: str, count: int) -> None:
    """Reads records as the only member of a group, and commits their offsets."""
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": group_id, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    read = 0
    while read < count:
        read += len(consumer.consume(count - read, timeout=PATIENCE_S))
    consumer.commit(asynchronous=False)
    consumer.close()
