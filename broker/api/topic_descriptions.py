"""The descriptions of topics in Metadata responses, in encoded form. Responses share their bytes.

A response may describe hundreds of thousands of partitions. If each were an object, building and encoding them would take most of the
request's time, and the garbage collector would visit them all while the response is built. Two rules avoid both:

* Partitions with the same leader, leader epoch, replicas and in-sync replicas differ only in their index. `TopicDescriber` encodes such a
  state once per request and inserts the indexes.
* The encoded topic is kept in `Topic.descriptions` under everything else that it depends on: the version, the client's permissions and the
  nodes. A change of the topic replaces that dictionary (`ReplicatedLog.discard_descriptions`, `Topic.add_partitions`), so a
  description that was begun before the change is stored in the old dictionary and is never used.

Errors depend on the client and the request, so they are not kept.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from struct import Struct

from ...protocol.errors import ErrorCode
from ...protocol.messages.metadata import MetadataResponsePartition, MetadataResponseTopic
from ...protocol.schema import EncodedItems
from ..scheduling.slices import Slices, chunks
from ..scheduling.waiting import NEXT_TURN, Wait
from ..topics.partition import Partition, Topic
from ..topics.replication import NO_LEADER

KEPT_DESCRIPTIONS = 4
"""Descriptions that are kept of one topic. Clients of other versions, permissions or listeners replace the oldest."""
KNOWN_STATES = 1000
"""States of partitions whose bytes one request remembers."""
LISTENER_ERRORS_SINCE = 6
OPERATIONS_NOT_REQUESTED = -(1 << 31)

Description = tuple[bytes, ...]
"""A topic of a Metadata response. Each element contains the partitions of one slice at most."""
Key = tuple[int, int, frozenset[int], frozenset[int]]
"""The version, `topic_authorized_operations`, the reachable and the stopped nodes."""
State = tuple[int, int, tuple[int, ...], tuple[int, ...]]
"""Leader, leader epoch, replicas and in-sync replicas of a partition."""
_INDEX = Struct(">i")
_BEFORE_INDEX, _AFTER_INDEX = slice(0, 2), slice(6, None)  # a partition begins with an int16 (the error code) and its index in all versions


class TopicDescriber:
    """Encodes topics for one request.

    `reachable` are the nodes that have the client's listener, and `stopped` those that are down, both at the start of the request.
    """

    def __init__(self, version: int, reachable: frozenset[int], stopped: frozenset[int]) -> None:
        self.slices = Slices()
        self._version, self._reachable, self._stopped = version, reachable, stopped
        self._keys: dict[int, Key] = {}
        """Operations -> key. Many descriptions refer to the same key object, which saves memory."""
        self._around: dict[State, tuple[bytes, bytes]] = {}
        """The bytes of partitions in a state before and after the index."""

    def find(self, topic: Topic, operations: int) -> Description | None:
        """Returns the description of a topic if it has been encoded since the topic changed last."""
        return topic.descriptions.get(self._key(operations))

    def _key(self, operations: int) -> Key:
        if operations not in self._keys:
            self._keys[operations] = (self._version, operations, self._reachable, self._stopped)
        return self._keys[operations]

    def describe(self, topic: Topic, operations: int) -> Generator[Wait, None, Description]:
        """Returns the description of a topic. `operations` is `topic_authorized_operations`."""
        descriptions, count, blocks = topic.descriptions, 0, list[bytes]()
        for partitions in chunks(topic.partitions):
            blocks.append(self._encode_partitions(partitions))
            count += len(partitions)
            if self.slices.full(len(partitions)):
                yield NEXT_TURN
        described = MetadataResponseTopic(
            name=topic.name,
            topic_id=topic.id,
            is_internal=topic.is_internal,
            partitions=EncodedItems(count, blocks),
            topic_authorized_operations=operations,
        )
        description = self.encode(described)
        if len(descriptions) >= KEPT_DESCRIPTIONS:
            del descriptions[next(iter(descriptions))]
        descriptions[self._key(operations)] = description
        return description

    def encode(self, topic: MetadataResponseTopic) -> Description:
        """Returns the bytes of a topic as few blocks."""
        parts: list[bytes] = []
        end = MetadataResponseTopic.encoders[self._version](topic, bytearray(), parts)
        if len(parts) <= 2:  # at most one slice of partitions
            return (b"".join([*parts, end]),)
        return (*map(bytes, parts), bytes(end))

    def _encode_partitions(self, partitions: Sequence[Partition]) -> bytes:
        around, index_bytes = self._around, _INDEX.pack
        encoded = []
        for partition in partitions:
            state = (partition.leader, partition.leader_epoch, tuple(partition.replicas), tuple(partition.isr))
            encoded.append(index_bytes(partition.index).join(around.get(state) or self._encode_state(partition, state)))
        return b"".join(encoded)

    def _encode_state(self, partition: Partition, state: State) -> tuple[bytes, bytes]:
        encoded = MetadataResponsePartition.encoders[self._version](self._describe_partition(partition), bytearray(), [])
        if len(self._around) >= KNOWN_STATES:
            self._around.clear()
        around = self._around[state] = bytes(encoded[_BEFORE_INDEX]), bytes(encoded[_AFTER_INDEX])
        return around

    def _describe_partition(self, partition: Partition) -> MetadataResponsePartition:
        code, leader = ErrorCode.NONE, partition.leader
        if leader == NO_LEADER:
            code = ErrorCode.LEADER_NOT_AVAILABLE
        elif leader not in self._reachable:
            code = ErrorCode.LISTENER_NOT_FOUND if self._version >= LISTENER_ERRORS_SINCE else ErrorCode.LEADER_NOT_AVAILABLE
            leader = NO_LEADER
        replicas = partition.replicas
        if self._version == 0:  # clients of v0 fail on a replica that is not among the brokers of the response
            replicas = [node for node in replicas if node in self._reachable]
            if code is ErrorCode.NONE and len(replicas) < len(partition.replicas):
                code = ErrorCode.REPLICA_NOT_AVAILABLE
        return MetadataResponsePartition(
            error_code=code,
            partition_index=partition.index,
            leader_id=leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=replicas,
            isr_nodes=partition.isr,
            offline_replicas=[node_id for node_id in partition.replicas if node_id in self._stopped],
        )
