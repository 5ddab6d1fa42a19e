"""Reads topics as a member of a group of the protocol of KIP-848, in which the broker assigns partitions in answers to heartbeats."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any
from uuid import uuid4

from ...protocol.batches.records import RecordBatch
from ...protocol.client.connection import TopicPartition
from ...protocol.errors import KafkaError
from ...protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest, TopicPartitions
from .cluster_client import PAUSE_S, ClientError, ClusterClient, check
from .groups import commit, committed_offsets
from .offsets import EARLIEST, LATEST, Offsets, list_offsets, of_topics
from .reading import Reader

JOINING, LEAVING = 0, -1
REBALANCE_TIMEOUT_MS = 60_000
ASSIGNMENT_S = 10.0
"""The time for which a member that does not follow waits for its first partitions."""


class GroupReader(Reader):
    """A member of a group. It is a context manager, which leaves the group at the end.

    It begins at the committed offsets, and at the first record of a partition without one. `commit` commits what has been read. If it
    does not `follow`, it reads each partition to the end that it had when it was assigned.
    """

    def __init__(self, client: ClusterClient, group: str, topics: Sequence[str], *, follow: bool, isolation_level: int) -> None:
        super().__init__(client, {}, {}, None if follow else {}, isolation_level)
        self._group = group
        self._topics = list(topics)
        self._names = {topic.topic_id: topic.name for topic in client.topics(topics)}
        self._member, self._epoch = str(uuid4()), JOINING
        self._due_s = 0.0
        self._has_changed = False
        self._committed: Offsets = {}

    def __enter__(self) -> GroupReader:
        self._heartbeat(self._topics)
        deadline_s = time.monotonic() + ASSIGNMENT_S
        while self._ends is not None and not self.positions and time.monotonic() < deadline_s:
            time.sleep(PAUSE_S)  # other members have to release their partitions first
            self._heartbeat()
        return self

    def __exit__(self, *_: object) -> None:
        self._epoch = LEAVING
        with suppress(ClientError, KafkaError):  # the broker removes a member that does not leave when its session ends
            self._heartbeat()

    def poll_batches(self) -> Iterator[tuple[TopicPartition, RecordBatch]]:
        """Yields the batches of one round of requests. Beforehand it sends a heartbeat if one is due, and takes over a new assignment."""
        if self._has_changed or time.monotonic() >= self._due_s:
            self._heartbeat()
        if not self.pending:
            time.sleep(PAUSE_S)
        yield from super().poll_batches()

    def commit(self) -> None:
        """Commits the offsets behind the records that have been read."""
        if changed := {each: offset for each, offset in self.positions.items() if self._committed.get(each) != offset}:
            commit(self._client, self._group, changed, self._member, self._epoch)
            self._committed |= changed

    def _heartbeat(self, topics: list[str] | None = None) -> None:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self._group,
            member_id=self._member,
            member_epoch=self._epoch,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS if self._epoch == JOINING else -1,
            subscribed_topic_names=topics,
            topic_partitions=self._owned_partitions() if self._epoch == JOINING or self._has_changed else None,
        )
        self._has_changed = False
        response = self._client.retry(lambda: self._answer(request))
        self._due_s = time.monotonic() + response.heartbeat_interval_ms / 1000
        if self._epoch != LEAVING:
            self._epoch = response.member_epoch
            if response.assignment is not None:
                found = response.assignment.topic_partitions
                self._assign({TopicPartition(self._names[each.topic_id], index) for each in found for index in each.partitions})

    def _answer(self, request: ConsumerGroupHeartbeatRequest) -> Any:
        response = self._client.send_to(self._client.coordinator(self._group), CONSUMER_GROUP_HEARTBEAT, request)
        check(response.error_code, f"group {self._group}", response.error_message)
        return response

    def _owned_partitions(self) -> list[TopicPartitions]:
        ids = {name: topic_id for topic_id, name in self._names.items()}
        return [TopicPartitions(topic_id=ids[name], partitions=sorted(indexes)) for name, indexes in of_topics(self.positions).items()]

    def _assign(self, assigned: set[TopicPartition]) -> None:
        """Takes over an assignment, which the next heartbeat confirms. Before, it commits what was read of revoked partitions."""
        if revoked := self.positions.keys() - assigned:
            self.commit()
            for each in revoked:
                del self.positions[each]
        self._has_changed = bool(revoked)
        if added := assigned - self.positions.keys():
            self._has_changed = True
            self._leaders = self._client.leaders(self._client.topics(self._topics))
            leaders = {each: self._leaders[each] for each in added}
            self._committed |= committed_offsets(self._client, self._group)
            earliest = list_offsets(self._client, leaders, EARLIEST)
            self.positions |= {each: self._committed.get(each, earliest[each]) for each in sorted(added)}
            if self._ends is not None:
                self._ends |= list_offsets(self._client, leaders, LATEST, self._isolation_level)
