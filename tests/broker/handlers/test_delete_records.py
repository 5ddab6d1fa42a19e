"""DeleteRecords."""

from __future__ import annotations

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.delete_records import (
    DELETE_RECORDS,
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.broker.harness import World, produce


def delete_records(world: World, offset: int, name: str = "t", partition: int = 0) -> tuple[int, int]:
    wanted = DeleteRecordsPartition(partition_index=partition, offset=offset)
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=name, partitions=[wanted])], timeout_ms=1)
    (result,) = world.client().call(DELETE_RECORDS, 2, request).topics[0].partitions
    return result.error_code, result.low_watermark


def test_delete_records_moves_the_log_start() -> None:
    world = World(nodes=1)
    world.cluster.topics.create("t", 1)
    produce(world, "t", b"a", b"b", b"c")
    assert delete_records(world, 1) == (0, 1)
    assert delete_records(world, 0) == (0, 1)  # before the start already
    assert delete_records(world, -1) == (0, 3)
    assert delete_records(world, 4) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete_records(world, -2) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert delete_records(world, 0, "nope") == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
    world.cluster.topics.create("compacted", 1, configs={"cleanup.policy": "compact"})
    assert delete_records(world, 0, "compacted") == (ErrorCode.POLICY_VIOLATION, -1)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    assert delete_records(world, 0, "__consumer_offsets") == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)
