"""Pages of DescribeTopicPartitions."""

from __future__ import annotations

from typing import Any

from odradek.protocol.messages.describe_topic_partitions import (
    DESCRIBE_TOPIC_PARTITIONS,
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from tests.broker.harness import World


def pages(world: World, *names: str, limit: int = 2000, cursor: Cursor | None = None) -> Any:
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names], response_partition_limit=limit, cursor=cursor
    )
    return world.client().call(DESCRIBE_TOPIC_PARTITIONS, 0, request)
