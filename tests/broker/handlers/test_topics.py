"""CreateTopics, DeleteTopics and CreatePartitions."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.groups.offsets import CommittedOffset
from odradek.broker.handlers.topics import MAX_KEPT_CONFIGS
from odradek.broker.settings.values import ConfigEntry, ConfigSource, TopicConfig
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.create_partitions import (
    CREATE_PARTITIONS,
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from odradek.protocol.messages.create_topics import (
    CREATE_TOPICS,
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from odradek.protocol.messages.delete_topics import DELETE_TOPICS, DeleteTopicsRequest, DeleteTopicState
from odradek.protocol.schema import ZERO_UUID
from tests.broker.harness import Client, World, produce


@pytest.fixture
def world() -> World:
    return World()


def topic(name: str, partitions: int = -1, factor: int = -1, replicas: Any = (), **configs: str | None) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=[CreatableReplicaAssignment(partition_index=index, broker_ids=list(nodes)) for index, nodes in replicas],
        configs=[CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()],
    )


def create(world: World, *topics: CreatableTopic, version: int = 7, validate_only: bool = False) -> Any:
    return world.client().call(CREATE_TOPICS, version, CreateTopicsRequest(topics=list(topics), validate_only=validate_only)).topics


@pytest.mark.parametrize("version", range(2, 8))
def test_create_topics_creates(world: World, version: int) -> None:
    (result,) = create(world, topic("t", 3, 1, retention_ms="1000"), version=version)
    assert (result.error_code, result.error_message) == (0, None)
    made = world.cluster.topics["t"]
    assert [len(partition.replicas) for partition in made.partitions] == [1, 1, 1]
    assert len({partition.leader for partition in made.partitions}) == 2
    assert made.config.integers["retention.ms"] == 1000
    if version >= 5:
        assert (result.num_partitions, result.replication_factor) == (3, 1)
        assert {config.name: config.value for config in result.configs}["retention.ms"] == "1000"
    if version >= 7:
        assert result.topic_id == made.id


def test_create_topics_uses_defaults_of_the_broker(world: World) -> None:
    (result,) = create(world, topic("t"))
    assert (result.num_partitions, result.replication_factor) == (1, 2)
    (result,) = create(World(nodes=5), topic("t"))
    assert result.replication_factor == 3


def test_create_topics_describes_equal_configs_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    described: list[dict[str, str]] = []
    describe = TopicConfig.describe

    def counted_describe(config: TopicConfig) -> list[ConfigEntry]:
        described.append(config.overrides)
        return describe(config)

    monkeypatch.setattr(TopicConfig, "describe", counted_describe)
    results = create(world, *(topic(f"t{number}", retention_ms=str(number % 2 + 1)) for number in range(100)))
    values = [{config.name: config.value for config in result.configs}["retention.ms"] for result in results]
    assert values == ["1", "2"] * 50
    assert described == [{"retention.ms": "1"}, {"retention.ms": "2"}]
    create(world, topic("old"), version=4)
    assert len(described) == 2


def test_create_topics_describes_values_of_the_moment(world: World) -> None:
    def described(name: str) -> dict[str, tuple[str, int]]:
        (result,) = create(world, topic(name))
        return {config.name: (config.value, config.config_source) for config in result.configs}

    before = described("before")
    world.cluster.alter_topic(world.cluster.topics["before"], {"retention.ms": "1"})
    assert described("between") == before
    world.cluster.alter_brokers(None, world.cluster.config.cluster_wide | {"log.retention.ms": "5"})
    assert described("after") == before | {"retention.ms": ("5", ConfigSource.DYNAMIC_DEFAULT_BROKER)}


def test_create_topics_describes_many_different_configs(world: World) -> None:
    for number in range(2 * MAX_KEPT_CONFIGS):
        (result,) = create(world, topic(f"t{number}", retention_ms=str(number)))
        assert {config.name: config.value for config in result.configs}["retention.ms"] == str(number)


MANY = 2000
"""The number of partitions that are made in several slices."""


@pytest.fixture
def stepwise() -> World:
    """Returns a world in which a test runs each turn, and which has a topic."""
    world = World(nodes=2, stepwise=True)
    world.cluster.topics.create("old", 1, 1)
    return world


def begin_creation(world: World, name: str = "t", version: int = 7) -> Client:
    """Returns a client whose CreateTopics has made some of many partitions."""
    client = world.client()
    client.send(CREATE_TOPICS, version, CreateTopicsRequest(topics=[topic(name, MANY, 1)]))
    for _ in range(5):
        world.turn()
    assert client.receive() is None and name not in world.cluster.topics
    return client


def begin_growth(world: World) -> Client:
    """Returns a client whose CreatePartitions has made some of many partitions."""
    client = world.client()
    wanted = CreatePartitionsTopic(name="old", count=MANY, assignments=None)
    client.send(CREATE_PARTITIONS, 3, CreatePartitionsRequest(topics=[wanted], timeout_ms=1, validate_only=False))
    for _ in range(5):
        world.turn()
    assert client.receive() is None and len(world.cluster.topics["old"].partitions) == 1
    return client


def answer_to(client: Client) -> Any:
    """Returns the result of the only topic after all further turns."""
    turns = 0
    while (response := client.receive()) is None:
        client.world.turn()
        turns += 1
        assert turns < MANY
    return (response.topics if hasattr(response, "topics") else response.results)[0]


def test_large_topic_is_found_when_all_partitions_are_made(stepwise: World) -> None:
    result = answer_to(begin_creation(stepwise))
    assert (result.error_code, result.num_partitions) == (0, MANY)
    assert [each.index for each in stepwise.cluster.topics["t"].partitions] == list(range(MANY))


def test_large_topic_is_led_by_nodes_that_run_at_the_end(stepwise: World) -> None:
    client = begin_creation(stepwise)
    stepwise.cluster.brokers[2].fenced = True
    assert answer_to(client).error_code == 0
    assert {each.leader for each in stepwise.cluster.topics["t"].partitions} == {1}


def test_large_topic_has_settings_of_the_end(stepwise: World) -> None:
    client = begin_creation(stepwise)
    stepwise.cluster.alter_brokers(None, stepwise.cluster.config.cluster_wide | {"log.retention.ms": "5"})
    assert answer_to(client).error_code == 0
    assert stepwise.cluster.topics["t"].config.integers["retention.ms"] == 5


def test_large_topic_whose_name_is_taken_meanwhile_is_refused(stepwise: World) -> None:
    client = begin_creation(stepwise)
    stepwise.cluster.topics.create("t", 3)
    assert answer_to(client).error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    assert len(stepwise.cluster.topics["t"].partitions) == 3


def test_large_topic_of_a_closed_connection_is_not_created(stepwise: World) -> None:
    client = begin_creation(stepwise)
    client.connection.lost("the client has gone")
    while stepwise.turns.has_more:
        stepwise.turn()
    assert set(stepwise.cluster.topics) == {"old"}


def test_many_added_partitions_appear_together(stepwise: World) -> None:
    assert answer_to(begin_growth(stepwise)).error_code == 0
    assert [each.index for each in stepwise.cluster.topics["old"].partitions] == list(range(MANY))


def test_many_added_partitions_follow_those_added_meanwhile(stepwise: World) -> None:
    client = begin_growth(stepwise)
    stepwise.cluster.topics.add_partitions(stepwise.cluster.topics["old"], [[1], [2]])
    assert answer_to(client).error_code == 0
    assert [each.index for each in stepwise.cluster.topics["old"].partitions] == list(range(MANY))


def test_many_added_partitions_of_a_deleted_topic_are_refused(stepwise: World) -> None:
    client = begin_growth(stepwise)
    stepwise.cluster.delete_topic(stepwise.cluster.topics["old"])
    assert answer_to(client).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert not stepwise.cluster.topics


def test_create_topics_validate_only_creates_nothing(world: World) -> None:
    (result,) = create(world, topic("t", 3), validate_only=True)
    assert (result.error_code, result.num_partitions) == (0, 3)
    assert not world.cluster.topics


def test_create_topics_counts_default_partitions() -> None:
    world = World(nodes=1, settings={"num.partitions": "5001"})
    results = create(world, topic("a", -1, -1), topic("b", -1, -1))
    assert [result.error_code for result in results] == [ErrorCode.POLICY_VIOLATION] * 2
    assert create(world, topic("a", -1, -1))[0].error_code == 0


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (topic(""), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic("a/b"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic("x" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic("a_b"), ErrorCode.INVALID_TOPIC_EXCEPTION),  # collides with a.b
        (topic("a.b"), ErrorCode.TOPIC_ALREADY_EXISTS),
        (topic("__cluster_metadata"), ErrorCode.INVALID_REQUEST),
        (topic("t", 0), ErrorCode.INVALID_PARTITIONS),
        (topic("t", -2), ErrorCode.INVALID_PARTITIONS),
        (topic("t", 10_001), ErrorCode.POLICY_VIOLATION),
        (topic("t", 1, 0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic("t", 1, -2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic("t", 1, 3), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic("t", 1, -1, [(0, [1])]), ErrorCode.INVALID_REQUEST),
        (topic("t", -1, 1, [(0, [1])]), ErrorCode.INVALID_REQUEST),
        (topic("t", replicas=[(0, [1]), (0, [2])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", replicas=[(1, [1])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", replicas=[(0, [])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", replicas=[(0, [1, 1])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", replicas=[(0, [9])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", replicas=[(0, [1]), (1, [1, 2])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (topic("t", no_such_name="1"), ErrorCode.INVALID_CONFIG),
        (topic("t", retention_ms="soon"), ErrorCode.INVALID_CONFIG),
        (topic("t", retention_ms=None), ErrorCode.INVALID_CONFIG),
    ],
)
def test_create_topics_invalid_is_refused(world: World, wanted: CreatableTopic, code: ErrorCode) -> None:
    world.cluster.topics.create("a.b", 1)
    (result,) = create(world, wanted)
    assert result.error_code == code
    assert result.error_message
    assert list(world.cluster.topics) == ["a.b"]


def test_create_topics_with_duplicate_name_or_config(world: World) -> None:
    (result,) = create(world, topic("t"), topic("t"))
    assert result.error_code == ErrorCode.INVALID_REQUEST
    twice = topic("t", retention_ms="1")
    twice.configs.append(CreatableTopicConfig(name="retention.ms", value="2"))
    assert create(world, twice)[0].error_code == 0
    assert world.cluster.topics["t"].config.overrides == {"retention.ms": "2"}, "the last value applies"


def test_create_topics_with_manual_assignments(world: World) -> None:
    create(world, topic("t", replicas=[(1, [2, 1]), (0, [1, 2])]))
    assert [partition.replicas for partition in world.cluster.topics["t"].partitions] == [[1, 2], [2, 1]]


def delete(world: World, *states: DeleteTopicState, version: int = 6) -> list[int]:
    names = [state.name or "" for state in states]
    request = DeleteTopicsRequest(topics=list(states) if version >= 6 else [], topic_names=names if version < 6 else [], timeout_ms=1)
    return [result.error_code for result in world.client().call(DELETE_TOPICS, version, request).responses]


def state(name: str | None, topic_id: bytes = ZERO_UUID) -> DeleteTopicState:
    return DeleteTopicState(name=name, topic_id=topic_id)


@pytest.mark.parametrize("version", range(1, 7))
def test_delete_topics_by_name(world: World, version: int) -> None:
    world.cluster.topics.create("t", 1)
    assert delete(world, state("t"), state("nope"), version=version) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0]
    assert not world.cluster.topics
    assert not world.cluster.topics_by_id


def test_delete_topics_by_id(world: World) -> None:
    topic_id = world.cluster.topics.create("t", 1).id
    assert delete(world, state(None, b"?" * 16), state(None, topic_id)) == [ErrorCode.UNKNOWN_TOPIC_ID, 0]
    assert not world.cluster.topics


def test_delete_topics_ambiguous_is_refused(world: World) -> None:
    topic_id = world.cluster.topics.create("t", 1).id
    assert delete(world, state(None), state("t", topic_id)) == [ErrorCode.INVALID_REQUEST] * 2
    assert delete(world, state("t"), state("t")) == [ErrorCode.INVALID_REQUEST]
    assert list(world.cluster.topics) == ["t"]


def test_delete_topics_disabled_is_refused() -> None:
    world = World(settings={"delete.topic.enable": "false"})
    world.cluster.topics.create("t", 1)
    assert delete(world, state("t")) == [ErrorCode.TOPIC_DELETION_DISABLED]
    assert delete(world, state("t"), version=2) == [ErrorCode.INVALID_REQUEST]
    assert list(world.cluster.topics) == ["t"]


def add(world: World, count: int, *replicas: list[int], name: str = "t", times: int = 1, validate_only: bool = False) -> Any:
    assignments = [CreatePartitionsAssignment(broker_ids=nodes) for nodes in replicas] or None
    wanted = [CreatePartitionsTopic(name=name, count=count, assignments=assignments)] * times
    request = CreatePartitionsRequest(topics=wanted, timeout_ms=1, validate_only=validate_only)
    (result,) = world.client().call(CREATE_PARTITIONS, 3, request).results
    return result


def test_create_partitions_adds(world: World) -> None:
    made = world.cluster.topics.create("t", 1)
    assert add(world, 3, validate_only=True).error_code == 0
    assert len(made.partitions) == 1
    assert add(world, 3).error_code == 0
    assert [(partition.index, len(partition.replicas)) for partition in made.partitions] == [(0, 2), (1, 2), (2, 2)]
    assert add(world, 4, [2, 1]).error_code == 0
    assert made.partitions[3].replicas == [2, 1]
    assert produce(world, "t", b"x", partition=3) == 0


def test_create_partitions_invalid_is_refused(world: World) -> None:
    world.cluster.topics.create("t", 2)
    assert add(world, 2).error_message == "Topic already has 2 partition(s)."
    assert [add(world, count).error_code for count in (2, 1, 0)] == [ErrorCode.INVALID_PARTITIONS] * 3
    assert add(world, 4, [1, 2]).error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert add(world, 3, [1]).error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert add(world, 3, [1, 9]).error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert add(world, 3, name="nope").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert add(world, 3, times=2).error_code == ErrorCode.INVALID_REQUEST
    assert len(world.cluster.topics["t"].partitions) == 2


def test_create_partitions_beyond_the_limit_is_refused() -> None:
    world = World(1)
    for name in ("a", "b", "c"):
        world.cluster.topics.create(name, 1)
    wanted = [CreatePartitionsTopic(name=name, count=count, assignments=None) for name, count in (("a", 6001), ("b", 5001), ("c", 4001))]
    results = (
        world.client().call(CREATE_PARTITIONS, 3, CreatePartitionsRequest(topics=wanted, timeout_ms=1000, validate_only=False)).results
    )
    assert [result.error_code for result in results] == [0, ErrorCode.UNKNOWN_SERVER_ERROR, 0]
    assert [len(world.cluster.topics[name].partitions) for name in ("a", "b", "c")] == [6001, 1, 4001]


def test_delete_topics_releases_colliding_names(world: World) -> None:
    assert create(world, topic("a.b"))[0].error_code == 0
    assert create(world, topic("a_b"))[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    world.cluster.delete_topic(world.cluster.topics["a.b"])
    assert create(world, topic("a_b"))[0].error_code == 0


def test_create_topics_with_duplicate_replica_is_refused(world: World) -> None:
    (result,) = create(world, topic("t", replicas=[(0, [*range(1, 10_001), 10_000])]))
    assert result.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_delete_topics_with_many_groups_takes_many_turns() -> None:
    world = World(1, stepwise=True)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    world.cluster.topics.create("t", 1)
    offsets = world.cluster.groups.offsets
    for number in range(1000):
        offsets.commit(f"g{number}", {("t", 0): CommittedOffset(1, -1, "", 0)})
    client, turns = world.client(), 0
    client.send(DELETE_TOPICS, 4, DeleteTopicsRequest(topic_names=["t"], timeout_ms=0))
    while client.receive() is None:
        world.turn()
        turns += 1
    assert turns >= 5
    assert "t" not in world.cluster.topics
    assert not any(len(offsets.of(f"g{number}")) for number in range(1000))
