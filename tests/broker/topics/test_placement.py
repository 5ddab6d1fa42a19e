"""The placement of replicas of new partitions, and checks of manual assignments."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.topics.placement import check_assignments, check_count, check_increase, check_leadable, place_replicas
from odradek.protocol.errors import ErrorCode, KafkaError

NODES = st.dictionaries(st.integers(1, 9), st.sampled_from([None, "a", "b", "c"]), min_size=1, max_size=9)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[dict[int, str | None], list[int]]:
    """Draws nodes with their racks, and the running nodes."""
    racks = draw(NODES)
    running = draw(st.lists(st.sampled_from(sorted(racks)), min_size=1, unique=True))
    return racks, running


@given(cluster=clusters(), partitions=st.integers(1, 30), seed=st.integers(0, 99), data=st.data())
def test_place_replicas_spreads_over_nodes_and_racks(
    cluster: tuple[dict[int, str | None], list[int]], partitions: int, seed: int, data: st.DataObject
) -> None:
    racks, running = cluster
    factor = data.draw(st.integers(1, len(racks)))
    placed = list(place_replicas(racks, running, partitions, factor, Random(seed)))
    assert len(placed) == partitions
    leaders = Counter(replicas[0] for replicas in placed)
    assert set(leaders) <= set(running)
    if len(set(racks.values())) == 1:
        assert max(leaders.values()) - min(leaders[node] for node in running) <= 1
    for replicas in placed:
        assert len(set(replicas)) == len(replicas) == factor
        assert set(replicas) <= set(racks)
        assert len({racks[node] for node in replicas}) == min(factor, len(set(racks.values())))


@given(cluster=clusters(), seed=st.integers(0, 99), data=st.data())
def test_place_replicas_prefers_running_nodes_of_a_rack(
    cluster: tuple[dict[int, str | None], list[int]], seed: int, data: st.DataObject
) -> None:
    racks, running = cluster
    factor = data.draw(st.integers(1, len(racks)))
    for replicas in place_replicas(racks, running, 5, factor, Random(seed)):
        for rack in set(racks.values()):
            idle = [node for node in running if racks[node] == rack and node not in replicas]
            assert not idle or all(node in running for node in replicas if racks[node] == rack)


@pytest.mark.parametrize("seed", range(200))
def test_place_replicas_over_pairs_of_racks_is_even(seed: int) -> None:
    """Kafka's RackAwareAutoTopicCreationTest: each node gets nine replicas, and leads three partitions."""
    racks = dict(enumerate(["r1", "r2", "r2", "r1", "r3", "r3"], 1))
    placed = list(place_replicas(racks, list(racks), 18, 3, Random(seed)))
    assert Counter(node for replicas in placed for node in replicas) == dict.fromkeys(racks, 9)
    assert Counter(replicas[0] for replicas in placed) == dict.fromkeys(racks, 3)


@pytest.mark.parametrize("factor", [2, 3])
def test_place_replicas_with_equal_racks_is_balanced(factor: int) -> None:
    racks = {node: "abc"[node % 3] for node in range(1, 10)}
    placed = place_replicas(racks, list(racks), 9 * 6, factor, Random(1))
    assert set(Counter(node for replicas in placed for node in replicas).values()) == {6 * factor}


def test_place_replicas_varies_the_followers_of_a_leader() -> None:
    """When a node stops, its leaderships are spread over several other nodes."""
    racks = dict.fromkeys(range(1, 6))
    placed = place_replicas(racks, list(racks), 20, 2, Random(1))
    assert len({replicas[1] for replicas in placed if replicas[0] == 1}) == 4


@pytest.mark.parametrize(
    ("count", "factor", "running", "code"),
    [
        (0, 1, [1], ErrorCode.INVALID_PARTITIONS),
        (10_001, 1, [1], ErrorCode.POLICY_VIOLATION),
        (1, 0, [1], ErrorCode.INVALID_REPLICATION_FACTOR),
        (1, 3, [1], ErrorCode.INVALID_REPLICATION_FACTOR),
        (1, 1, [], ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_place_replicas_with_invalid_numbers_is_refused(count: int, factor: int, running: list[int], code: ErrorCode) -> None:
    with pytest.raises(KafkaError) as refused:
        place_replicas({1: None, 2: None}, running, count, factor, Random(1))
    assert refused.value.code == code


@pytest.mark.parametrize("assignments", [[[]], [[1, 1]], [[1, 7]], [[1], [1, 2]]])
def test_check_assignments_of_invalid_lists_is_refused(assignments: list[list[int]]) -> None:
    with pytest.raises(KafkaError) as refused:
        check_assignments(assignments, [1, 2])
    assert refused.value.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_check_leadable_without_running_node_is_refused() -> None:
    check_leadable([[1, 2], [2, 1]], [1])
    with pytest.raises(KafkaError, match="partition 4"):
        check_leadable([[1, 2], [2]], [1], 3)


@pytest.mark.parametrize("count", [2, 1])
def test_check_increase_not_above_present_is_refused(count: int) -> None:
    check_increase("t", 2, 3)
    with pytest.raises(KafkaError) as refused:
        check_increase("t", 2, count)
    assert refused.value.code == ErrorCode.INVALID_PARTITIONS


def test_check_count_of_too_few_lists_is_refused() -> None:
    check_count([[1], [2]], 2)
    with pytest.raises(KafkaError, match="but only 1 assignment"):
        check_count([[1]], 2)
