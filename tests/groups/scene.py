"""What groups see of a cluster, without the cluster: topics by name and how many partitions each has, and the records they write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from odradek.broker.groups.cluster_view import CoordinatorRecord
from odradek.broker.groups.consumer.resolutions import Resolutions
from odradek.broker.scheduling.waiting import Background
from odradek.broker.settings.values import BrokerConfig, GroupConfig, TopicConfig
from odradek.broker.topics.topic import Topic


class ClusterView:
    def __init__(self, topics: Mapping[str, int] | None = None) -> None:
        self.topics: dict[str, Topic] = {}
        self.topics_by_id: dict[bytes, Topic] = {}
        self.topics_version = 0
        self.group_configs: dict[str, GroupConfig] = {}
        self.background: list[Background] = []
        """Work that was put off; a test does it, or nobody."""
        self.regexes = Resolutions(self.topics, self.background.append)
        self.written: list[tuple[str, list[CoordinatorRecord]]] = []
        for name, partitions in (topics or {}).items():
            self.create(name, partitions)

    def create(self, name: str, partitions: int) -> None:
        """Makes a topic, or a larger one of the same id."""
        topic = self.topics.get(name) or Topic(name, Random(name).randbytes(16), TopicConfig(BrokerConfig({}), {}))
        topic.add_partitions([[1]] * (partitions - len(topic.partitions)), [1])
        self.topics[name] = self.topics_by_id[topic.id] = topic
        self.topics_version += 1

    def delete(self, name: str) -> None:
        del self.topics_by_id[self.topics.pop(name).id]
        self.topics_version += 1

    def write(self, group_id: str, records: Sequence[CoordinatorRecord]) -> None:
        self.written.append((group_id, list(records)))
