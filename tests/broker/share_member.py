"""A member of a share group, which sends ShareFetch and ShareAcknowledge requests to one node without a group coordinator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from odradek.protocol.messages.share_acknowledge import SHARE_ACKNOWLEDGE, AcknowledgePartition, AcknowledgeTopic, ShareAcknowledgeRequest
from odradek.protocol.messages.share_fetch import (
    SHARE_FETCH,
    AcknowledgementBatch,
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchRequest,
)
from tests.broker.harness import World

ACCEPT, RELEASE, REJECT, RENEW = range(1, 5)
VERSION = 2
Range = tuple[int, int, int]
"""(first offset, last offset, acknowledge type)."""


def share_world(nodes: int = 1, partitions: int = 1, **settings: str) -> World:
    """Returns a cluster with the topic `t`, whose partitions the group `g` reads from the beginning."""
    few = {"share.coordinator.state.topic.num.partitions": "1", "offsets.topic.num.partitions": "1", "log.retention.ms": "-1"}
    world = World(nodes, few | {name.replace("_", "."): value for name, value in settings.items()})
    topic = world.cluster.topics.create("t", partitions, nodes)
    for index in range(partitions):
        world.cluster.share_states.initialize("g", topic.id, index, 0, 1)
    return world


class ShareMember:
    """One member with a connection of its own. `epoch` is that of its next request."""

    def __init__(self, world: World, name: str = "m", *, group: str = "g", node: int = 1) -> None:
        self.world, self.name, self.group = world, name, group
        self.client = world.client(node)
        self.epoch = 0

    @property
    def topic_id(self) -> bytes:
        return self.world.cluster.topics["t"].id

    def send(self, *acks: Range, partitions: Iterable[int] = (0,), forget: Iterable[int] = (), **fields: Any) -> None:
        """Sends a ShareFetch; acknowledgements belong to partition 0."""
        wanted = [FetchPartition(partition_index=index, acknowledgement_batches=[] if index else _batches(acks)) for index in partitions]
        values: dict[str, Any] = {
            "group_id": self.group,
            "member_id": self.name,
            "share_session_epoch": self.epoch,
            "max_wait_ms": 500,
            "min_bytes": 1,
            "max_records": 500,
            "batch_size": 500,
            "topics": [FetchTopic(topic_id=self.topic_id, partitions=wanted)] if wanted else [],
            "forgotten_topics_data": [ForgottenTopic(topic_id=self.topic_id, partitions=list(forget))] if forget else [],
        }
        self.client.send(SHARE_FETCH, VERSION, ShareFetchRequest(**values | fields))
        self.epoch += 1

    def fetch(self, *acks: Range, **fields: Any) -> Any:
        """Returns the response to a ShareFetch; its waiting time has passed if there are no records."""
        self.send(*acks, **fields)
        response = self.client.receive()
        if response is None:
            self.world.advance(fields.get("max_wait_ms", 500))
            response = self.client.receive()
        assert response is not None
        return response

    def acquired(self, *acks: Range, **fields: Any) -> list[tuple[int, int, int]]:
        """Returns (first offset, last offset, delivery count) of the ranges that a ShareFetch returns."""
        return ranges(self.fetch(*acks, **fields))

    def receive(self) -> Any:
        return self.client.receive()

    def acknowledge(self, *acks: Range, partition: int = 0, **fields: Any) -> Any:
        """Returns the response to a ShareAcknowledge."""
        wanted = AcknowledgePartition(partition_index=partition, acknowledgement_batches=_batches(acks))
        request = ShareAcknowledgeRequest(
            group_id=self.group,
            member_id=self.name,
            share_session_epoch=fields.pop("epoch", self.epoch),
            topics=[AcknowledgeTopic(topic_id=self.topic_id, partitions=[wanted])],
            **fields,
        )
        self.epoch += 1
        return self.client.call(SHARE_ACKNOWLEDGE, VERSION, request)

    def disconnect(self) -> None:
        self.client.connection.lost("the client has closed it")
        self.world.core.run_ready()
        self.world.end_turn()


def ranges(response: Any) -> list[tuple[int, int, int]]:
    return [
        (each.first_offset, each.last_offset, each.delivery_count)
        for topic in response.responses
        for partition in topic.partitions
        for each in partition.acquired_records
    ]


def partition_of(response: Any) -> Any:
    """Returns the only partition of a response."""
    ((partition,),) = (topic.partitions for topic in response.responses)
    return partition


def _batches(acks: Iterable[Range]) -> list[AcknowledgementBatch]:
    return [AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[kind]) for first, last, kind in acks]
