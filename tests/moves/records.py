"""Records, transactions and committed offsets, which clients compare before and after each move."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from tests.broker.directories.exported_kafka import wait_for_leaders
from tests.storage.directories import recording

TOPICS = {"orders": {"segment.bytes": "1048576"}, "payments": {"cleanup.policy": "compact"}}
NAMES = [*TOPICS, "transfers"]
PATIENCE_S = 60.0


class Records:
    """Two topics with `nodes` replicas and one with transactions, to which each broker adds records."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes
        self._expected: dict[str, Any] | None = None

    def work(self, servers: str) -> None:
        """Compares what clients see with what they saw on the broker before, and adds records to each partition."""
        if self._expected is None:
            self._create(servers)
        else:
            wait_for_leaders(servers, NAMES)
            assert recording.describe(servers, NAMES) == self._expected
        producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True})
        for partition in range(2):
            producer.produce("orders", "added", f"key-{partition}", partition)
        assert producer.flush(PATIENCE_S) == 0
        self._expected = recording.describe(servers, NAMES)

    def _create(self, servers: str) -> None:
        admin = AdminClient({"bootstrap.servers": servers})
        topics = [NewTopic(name, 2, self._nodes, config=config) for name, config in TOPICS.items()]
        for created in admin.create_topics(topics).values():
            created.result(PATIENCE_S)
        for name in TOPICS:
            recording.fill(servers, name)
        recording.run_transactions(servers)
        recording.commit_offsets(servers)

    def leave(self) -> None:
        """Does nothing, because no client outlives the broker."""
