"""A word count in Kafka Streams with exactly-once processing that ends on each broker, also by a crash within its transactions."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from tests.clients.client import PATIENCE_S
from tests.clients.streams_instances import PARTITIONS, Instance, Words


class WordCount:
    """The application, and what it has to have counted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._expected: Counter[str] = Counter()
        self._runs = 0

    def work(self, servers: str) -> None:
        """Counts words, restoring its state from the changelog topic. The first instance is killed while it counts, the next ones leave."""
        if not self._runs:
            admin = AdminClient({"bootstrap.servers": servers})
            for created in admin.create_topics([NewTopic(name, PARTITIONS, 1) for name in ("lines", "counts")]).values():
                created.result(PATIENCE_S)
        words = Words(servers, self._expected)
        instance = Instance(servers, self._folder / f"state-{self._runs}", "exactly_once_v2")
        try:
            words.write(*["to be or not to be"] * 40)
            words.wait(words.are_counted, instance)
            assert words.are_counted_once(), words.read
            words.write(*["be that as it may"] * 40)
            if self._runs == 0:
                instance.kill()
        finally:
            instance.close()
            words.close()
        self._expected = words.expected
        self._runs += 1

    def leave(self) -> None:
        """Does nothing, because no client outlives the broker."""
