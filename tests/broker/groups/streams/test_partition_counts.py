"""Numbers of partitions of internal topics. tests/differential compares many topologies with Apache Kafka."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from odradek.broker.groups.streams.partition_counts import IncorrectPartitions, PartitionCounts
from odradek.broker.groups.streams.topology import CopartitionGroup, InternalTopicInfo, Subtopology, Topology
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.groups.streams_verbs import shape


def counts(text: str, **existing: int) -> dict[str, int]:
    return PartitionCounts(shape(text), existing).decided


def fixed(topology: Topology, part: str, partitions: int) -> Topology:
    """Returns the topology with a stated number of partitions of all repartition topics that a part reads."""
    changed = topology.subtopologies[part]
    topics = tuple(topic._replace(partitions=partitions) for topic in changed.repartition_source_topics)
    return topology._replace(subtopologies={**topology.subtopologies, part: changed._replace(repartition_source_topics=topics)})


def copartitioned(topology: Topology, part: str, sources: tuple[int, ...], repartitions: tuple[int, ...]) -> Topology:
    changed = topology.subtopologies[part]._replace(copartition_groups=(CopartitionGroup(sources, repartitions),))
    return topology._replace(subtopologies={**topology.subtopologies, part: changed})


def test_repartition_topic_gets_largest_number_of_its_writer() -> None:
    assert counts("0:a+b>r,1:<r*c", a=2, b=5) == {"r": 5, "c": 5}


def test_existing_topic_counts_with_its_real_number() -> None:
    assert counts("0:a>r,1:<r*c", a=2, r=3) == {"r": 2, "c": 3}


def test_stated_number_takes_precedence_over_the_writers() -> None:
    assert PartitionCounts(fixed(shape("0:a>r,1:<r*c"), "1", 7), {"a": 2}).decided == {"r": 7, "c": 7}


def test_chain_of_repartition_topics_is_followed() -> None:
    assert counts("2:>t<s,1:>s<r,0:a>r,3:<t", a=4) == {"r": 4, "s": 4, "t": 4}


@pytest.mark.parametrize(("text", "words"), [("0:>r<r", "loops"), ("0:a,1:<r", "never used as a sink"), ("0:", "No source topics")])
def test_undecidable_topology_is_refused(text: str, words: str) -> None:
    with pytest.raises(KafkaError, match=words) as refused:
        counts(text, a=2)
    assert refused.value.code is ErrorCode.STREAMS_INVALID_TOPOLOGY


def test_unknown_source_topic_fails_as_in_kafka() -> None:
    with pytest.raises(KafkaError) as failed:
        counts("0:a")
    assert failed.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_copartitioned_sources_need_the_same_number() -> None:
    topology = copartitioned(shape("0:a+b"), "0", (0, 1), ())
    PartitionCounts(topology, {"a": 2, "b": 2})
    with pytest.raises(IncorrectPartitions, match=r"same number of partitions: \[\{a=2, b=3\}\]"):
        PartitionCounts(topology, {"a": 2, "b": 3})


def test_copartitioned_repartition_topic_follows_the_source() -> None:
    topology = copartitioned(shape("0:a>r,1:b<r"), "1", (0,), (0,))
    assert PartitionCounts(topology, {"a": 2, "b": 6}).decided["r"] == 6
    with pytest.raises(IncorrectPartitions, match=r"partitions \[4\] of repartition topic \[r\]"):
        PartitionCounts(fixed(topology, "1", 4), {"a": 2, "b": 6})


def test_copartitioned_repartition_topics_get_the_largest_number() -> None:
    topology = copartitioned(shape("0:a>r,1:b>s,2:<r+s"), "2", (), (0, 1))
    assert PartitionCounts(topology, {"a": 2, "b": 6}).decided == {"r": 6, "s": 6}


@pytest.mark.parametrize("indexes", [((1,), ()), ((-1,), ()), ((), (0,))])
def test_copartition_index_without_topic_fails(indexes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    with pytest.raises(KafkaError) as failed:
        PartitionCounts(copartitioned(shape("0:a"), "0", *indexes), {"a": 2})
    assert failed.value.code is ErrorCode.UNKNOWN_SERVER_ERROR


def test_long_chain_in_worst_order_visits_each_part_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kafka passes over all subtopologies once for each link of the chain."""
    length, visits, largest_read = 500, 0, PartitionCounts._largest_read

    def counted(self: PartitionCounts, part: Subtopology, counts: Mapping[str, int]) -> int | None:
        nonlocal visits
        visits += 1
        return largest_read(self, part, counts)

    monkeypatch.setattr(PartitionCounts, "_largest_read", counted)
    parts = {"first": Subtopology("first", ("a",), (), ("r0",), (), ())}
    for number in range(length):
        read = (InternalTopicInfo(f"r{number}", 0, 0, ()),)
        parts[f"p{number}"] = Subtopology(f"p{number}", (), (), (f"r{number + 1}",), read, ())
    assert PartitionCounts(Topology(0, parts), {"a": 3}).decided[f"r{length}"] == 3
    assert visits == 2 * (length + 1)
