"""Topics that are created at startup: parsing and checking."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.cluster.startup_topics import check_topics, topic_specs_of, topics_to_create
from odradek.broker.settings.cluster_config import TopicSpec
from odradek.broker.settings.properties import InvalidConfig


def test_topic_specs_of_numbers_and_options() -> None:
    specs = topic_specs_of({"a": 3, "b": {"replication_factor": 2, "configs": {"retention.ms": 5}}})
    assert [(spec.name, spec.partitions, spec.replication_factor, dict(spec.configs)) for spec in specs] == [
        ("a", 3, -1, {}),
        ("b", -1, 2, {"retention.ms": "5"}),
    ]


@pytest.mark.parametrize(
    ("topics", "error"), [(["a"], TypeError), ({"a": "3"}, TypeError), ({"a": 0}, ValueError), ({"a": {"size": 1}}, ValueError)]
)
def test_topic_specs_of_invalid_value_raises(topics: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        topic_specs_of(topics)


def test_created_topics_separated_by_commas_or_lines() -> None:
    specs = topics_to_create({"KAFKA_CREATE_TOPICS": "a:2:1, b:1:1:compact\nc:3:2"})
    assert [(spec.name, spec.partitions, spec.replication_factor) for spec in specs] == [("a", 2, 1), ("b", 1, 1), ("c", 3, 2)]
    assert [dict(spec.configs) for spec in specs] == [{}, {"cleanup.policy": "compact"}, {}]


def test_created_topics_malformed_raises() -> None:
    with pytest.raises(InvalidConfig, match="invalid topic 'a:many'"):
        topics_to_create({"KAFKA_CREATE_TOPICS": "a:many"})


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a b"], "invalid topic name"),
        (["a.b", "a_b"], "differ only in"),
        (["a", "a"], "topic a is specified twice"),
    ],
)
def test_check_topics_with_invalid_names_raises(names: list[str], message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        check_topics([TopicSpec(name, 1, 1) for name in names], nodes=1)


def test_check_topics_with_too_many_partitions_raises() -> None:
    check_topics([TopicSpec("a", 10_000), TopicSpec("b", 10_000)], nodes=1)
    with pytest.raises(InvalidConfig, match="topic b: partitions must be at most 10000, as in one request to Kafka, not 10001"):
        check_topics([TopicSpec("a", 10_000), TopicSpec("b", 10_001)], nodes=1)


def test_check_topics_with_too_many_replicas_raises() -> None:
    check_topics([TopicSpec("a", 1, 2)], nodes=2)
    with pytest.raises(InvalidConfig, match="replication factor 3 exceeds the number of nodes"):
        check_topics([TopicSpec("a", 1, 3)], nodes=2)
