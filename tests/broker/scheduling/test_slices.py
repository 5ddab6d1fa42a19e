"""Responses whose size depends on the cluster are built in slices, and other clients are served between them."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.groups.offsets import CommittedOffset
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS, DescribeConfigsRequest, DescribeConfigsResource
from odradek.protocol.messages.describe_log_dirs import DESCRIBE_LOG_DIRS, DescribeLogDirsRequest
from odradek.protocol.messages.describe_producers import DESCRIBE_PRODUCERS, DescribeProducersRequest, TopicRequest
from odradek.protocol.messages.describe_topic_partitions import DESCRIBE_TOPIC_PARTITIONS, DescribeTopicPartitionsRequest
from odradek.protocol.messages.elect_leaders import ELECT_LEADERS, ElectLeadersRequest
from odradek.protocol.messages.list_config_resources import LIST_CONFIG_RESOURCES, ListConfigResourcesRequest
from odradek.protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from odradek.protocol.messages.list_transactions import LIST_TRANSACTIONS, ListTransactionsRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH, OffsetFetchRequest, OffsetFetchRequestGroup
from odradek.protocol.schema import Api, Message
from tests.broker.harness import Client, World

TOPICS, PARTITIONS = 500, 3000
CASES: dict[str, tuple[Api, int, Message]] = {
    "Metadata": (METADATA, 12, MetadataRequest(topics=None)),
    "Metadata-of-one-topic": (METADATA, 12, MetadataRequest(topics=[MetadataRequestTopic(name="large")])),
    "DescribeTopicPartitions": (DESCRIBE_TOPIC_PARTITIONS, 0, DescribeTopicPartitionsRequest(topics=[], response_partition_limit=2000)),
    "DescribeLogDirs": (DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(topics=None)),
    "DescribeConfigs": (
        DESCRIBE_CONFIGS,
        4,
        DescribeConfigsRequest(
            resources=[DescribeConfigsResource(resource_type=2, resource_name=f"t{n}", configuration_keys=None) for n in range(100)]
        ),
    ),
    "DescribeProducers": (
        DESCRIBE_PRODUCERS,
        0,
        DescribeProducersRequest(topics=[TopicRequest(name="large", partition_indexes=[0])]),
    ),
    "ElectLeaders": (ELECT_LEADERS, 2, ElectLeadersRequest(election_type=0, topic_partitions=None)),
    "ListConfigResources": (LIST_CONFIG_RESOURCES, 1, ListConfigResourcesRequest(resource_types=[])),
    "ListGroups": (LIST_GROUPS, 4, ListGroupsRequest(states_filter=[])),
    "ListTransactions": (LIST_TRANSACTIONS, 2, ListTransactionsRequest(state_filters=[], producer_id_filters=[])),
    "ListTransactions-of-a-pattern": (
        LIST_TRANSACTIONS,
        2,
        ListTransactionsRequest(state_filters=[], producer_id_filters=[], transactional_id_pattern="(?:.*a.*){500}"),
    ),
    "OffsetFetch": (OFFSET_FETCH, 7, OffsetFetchRequest(group_id="g", topics=None)),
    "OffsetFetch-of-groups": (OFFSET_FETCH, 8, OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])),
}


@pytest.fixture(scope="module")
def large() -> World:
    """Returns a world with many topics, partitions, commits, transactional ids and producers."""
    world = World(1, stepwise=True)
    cluster = world.cluster
    for name in ("__consumer_offsets", "__transaction_state"):
        cluster.topics.ensure_internal(name)
    for number in range(TOPICS):
        cluster.topics.create(f"t{number}", 1)
        cluster.groups.offsets.commit(f"g{number}", {(f"t{number}", 0): CommittedOffset(1, -1, "", 0)})
        cluster.transactions.init_producer_id(f"{'a' * 20}{number}", 1000)
    topic = cluster.topics.create("large", PARTITIONS)
    for index in range(PARTITIONS):
        cluster.groups.offsets.commit("g", {("large", index): CommittedOffset(index, -1, "", 0)})
        topic.partitions[0].producers.record(index, 0, 0, 0, 0, 0, 0, 0)
    return world


def answered_in_turns(world: World, client: Client) -> tuple[Any, int]:
    """Returns the response and the number of turns it took. Another client is served in each of them."""
    other, turns = world.client(), 0
    while (answer := client.receive()) is None:
        world.turn()
        turns += 1
        assert other.call(API_VERSIONS, 0, ApiVersionsRequest()).error_code == 0
    return answer, turns


@pytest.mark.parametrize("case", CASES)
def test_long_response_takes_several_turns(large: World, case: str) -> None:
    client = large.client()
    for topic in large.cluster.topics.values():
        topic.descriptions = {}  # a topic that has been described before takes no time
    client.send(*CASES[case])
    answer, turns = answered_in_turns(large, client)
    assert turns >= 2
    large.stepwise = False
    assert answer == large.client().call(*CASES[case])
    large.stepwise = True


def test_topic_deleted_between_slices_is_left_out() -> None:
    world = World(1, stepwise=True)
    for number in range(1000):
        world.cluster.topics.create(f"t{number}", 1)
    client = world.client()
    client.send(METADATA, 12, MetadataRequest(topics=None))
    world.cluster.delete_topic(world.cluster.topics["t999"])
    world.cluster.topics.create("new", 1)
    answer, _ = answered_in_turns(world, client)
    assert [topic.name for topic in answer.topics] == [f"t{number}" for number in range(999)]
    assert all(len(topic.partitions) == 1 and not topic.error_code for topic in answer.topics)


def test_short_response_takes_one_turn() -> None:
    world = World(1, stepwise=True)
    world.cluster.topics.create("t", 10)
    assert len(world.client().call(METADATA, 12, MetadataRequest(topics=None)).topics) == 1
