"""The requests to the share coordinator."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages import delete_share_group_state as deleting
from odradek.protocol.messages import initialize_share_group_state as initializing
from odradek.protocol.messages import read_share_group_state as reading
from odradek.protocol.messages import read_share_group_state_summary as summing
from odradek.protocol.messages import write_share_group_state as writing
from tests.broker.harness import World


class Coordinator:
    """A client of the share coordinator of a cluster with one node."""

    def __init__(self, **settings: str) -> None:
        self.world = World(nodes=1, settings={"share.coordinator.state.topic.num.partitions": "1"} | settings)
        self.topic_id = self.world.cluster.topics.create("t", 2, 1).id
        self.world.cluster.topics.ensure_internal("__share_group_state")
        self.client = self.world.client()

    def initialize(self, start_offset: int = 0, state_epoch: int = 0, partition: int = 0, group_id: str = "g") -> Any:
        wanted = initializing.PartitionData(partition=partition, state_epoch=state_epoch, start_offset=start_offset)
        topics = [initializing.InitializeStateData(topic_id=self.topic_id, partitions=[wanted])]
        request = initializing.InitializeShareGroupStateRequest(group_id=group_id, topics=topics)
        return self._only(self.client.call(initializing.INITIALIZE_SHARE_GROUP_STATE, 0, request))

    def read(self, leader_epoch: int = -1) -> Any:
        wanted = reading.PartitionData(partition=0, leader_epoch=leader_epoch)
        request = reading.ReadShareGroupStateRequest(
            group_id="g", topics=[reading.ReadStateData(topic_id=self.topic_id, partitions=[wanted])]
        )
        return self._only(self.client.call(reading.READ_SHARE_GROUP_STATE, 0, request))

    def write(self, *batches: tuple[int, int, int, int], start_offset: int = 0, count: int = 0) -> Any:
        fields = ("first_offset", "last_offset", "delivery_state", "delivery_count")
        state = [reading.StateBatch(**dict(zip(fields, batch, strict=True))) for batch in batches]
        wanted = writing.PartitionData(
            partition=0, state_epoch=0, leader_epoch=0, start_offset=start_offset, delivery_complete_count=count, state_batches=state
        )
        request = writing.WriteShareGroupStateRequest(
            group_id="g", topics=[writing.WriteStateData(topic_id=self.topic_id, partitions=[wanted])]
        )
        return self._only(self.client.call(writing.WRITE_SHARE_GROUP_STATE, 1, request))

    def delete(self, *partitions: int) -> Any:
        wanted = [deleting.PartitionData(partition=partition) for partition in partitions]
        request = deleting.DeleteShareGroupStateRequest(
            group_id="g", topics=[deleting.DeleteStateData(topic_id=self.topic_id, partitions=wanted)]
        )
        return self.client.call(deleting.DELETE_SHARE_GROUP_STATE, 0, request)

    def summary(self) -> Any:
        wanted = reading.PartitionData(partition=0, leader_epoch=0)
        request = summing.ReadShareGroupStateSummaryRequest(
            group_id="g", topics=[summing.ReadStateSummaryData(topic_id=self.topic_id, partitions=[wanted])]
        )
        return self._only(self.client.call(summing.READ_SHARE_GROUP_STATE_SUMMARY, 1, request))

    @staticmethod
    def _only(response: Any) -> Any:
        ((result,),) = (topic.partitions for topic in response.results)
        return result


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


def test_states_are_written_and_read(coordinator: Coordinator) -> None:
    assert coordinator.initialize(start_offset=2).error_code == 0
    assert coordinator.write((2, 5, 2, 1), (7, 9, 0, 1), start_offset=2, count=4).error_code == 0
    state = coordinator.read()
    assert (state.error_code, state.state_epoch, state.start_offset) == (0, 0, 2)
    assert [(each.first_offset, each.last_offset, each.delivery_state) for each in state.state_batches] == [(2, 5, 2), (7, 9, 0)]
    summary = coordinator.summary()
    assert (summary.start_offset, summary.delivery_complete_count) == (2, 4)


def test_summary_of_an_uninitialized_state_is_minus_one(coordinator: Coordinator) -> None:
    summary = coordinator.summary()
    assert (summary.error_code, summary.start_offset, summary.delivery_complete_count) == (0, -1, -1)


def test_refusals_name_the_partition_and_the_reason(coordinator: Coordinator) -> None:
    assert coordinator.read().error_code == ErrorCode.INVALID_REQUEST
    refused = coordinator.initialize(partition=-1)
    assert (refused.partition, refused.error_code) == (-1, ErrorCode.INVALID_REQUEST)
    assert "negative" in refused.error_message


def test_delete_answers_each_partition_once(coordinator: Coordinator) -> None:
    coordinator.initialize()
    ((topic),) = coordinator.delete(0, 0, 1).results
    assert [(each.partition, each.error_code) for each in topic.partitions] == [(0, 0), (1, 0)]
    assert coordinator.delete().results == []
    assert coordinator.read().error_code == ErrorCode.INVALID_REQUEST


def test_requests_to_another_node_are_refused() -> None:
    coordinator = Coordinator()
    coordinator.world.cluster.topics["__share_group_state"].partitions[0].leader = 7
    assert coordinator.initialize().error_code == ErrorCode.NOT_COORDINATOR


def test_requests_without_cluster_action_are_refused() -> None:
    coordinator = Coordinator(**{"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"})
    assert coordinator.initialize().error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
