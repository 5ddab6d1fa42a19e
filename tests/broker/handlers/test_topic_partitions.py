from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.describe_topic_partitions import (
    Cursor,
)
from tests.broker.handlers.topic_pages import pages
from tests.broker.harness import World


@pytest.fixture
def world() -> World:
    return World().with_topic("t", 2)


def shape(response: Any) -> list[tuple[str, list[int]]]:
    return [(topic.name, [partition.partition_index for partition in topic.partitions]) for topic in response.topics]


def test_topic_partitions_are_returned_in_pages(world: World) -> None:
    world.cluster.topics.create("a", 3)
    assert shape(pages(world)) == [("a", [0, 1, 2]), ("t", [0, 1])]
    assert pages(world).next_cursor is None
    found, cursor = [], None
    while True:
        response = pages(world, limit=2, cursor=cursor)
        found.append(shape(response))
        cursor = response.next_cursor
        if cursor is None:
            break
    assert found == [[("a", [0, 1])], [("a", [2]), ("t", [0])], [("t", [1])]]
    response = pages(world, limit=3)
    assert shape(response) == [("a", [0, 1, 2])]
    assert (response.next_cursor.topic_name, response.next_cursor.partition_index) == ("t", 0)


def test_topic_partitions_of_unknown_topics_and_cursors(world: World) -> None:
    codes = {topic.name: topic.error_code for topic in pages(world, "t", "nope", "a b").topics}
    assert codes == {"t": 0, "nope": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "a b": ErrorCode.INVALID_TOPIC_EXCEPTION}
    for cursor in (Cursor(topic_name="t", partition_index=-1), Cursor(topic_name="other", partition_index=0)):
        assert pages(world, "t", cursor=cursor).topics[0].error_code == ErrorCode.INVALID_REQUEST
