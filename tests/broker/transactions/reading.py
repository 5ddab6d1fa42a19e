"""A consumer with isolation level read_committed, which skips the aborted transactions that the broker returns, as clients do."""

from __future__ import annotations

from odradek.protocol.batches.record_builder import ABORT
from odradek.protocol.batches.records import batches
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic, PartitionData
from tests.broker.harness import World


def fetch(world: World, topic: str, partition: int, offset: int = 0, *, committed: bool, max_bytes: int = 1 << 20) -> PartitionData:
    """Returns the response of a partition's leader."""
    wanted = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes)
    request = FetchRequest(
        max_wait_ms=0, min_bytes=0, isolation_level=int(committed), topics=[FetchTopic(topic=topic, partitions=[wanted])]
    )
    data: PartitionData = world.leader_of(topic, partition).call(FETCH, 12, request).responses[0].partitions[0]
    return data


def read_committed(world: World, topic: str, partition: int, max_bytes: int = 200) -> tuple[list[bytes | None], int]:
    """Returns the values and the last stable offset, from many small fetches."""
    values: list[bytes | None] = []
    offset = 0
    while True:
        data = fetch(world, topic, partition, offset, committed=True, max_bytes=max_bytes)
        assert data.error_code == 0
        if not data.records:
            return values, data.last_stable_offset
        found, offset = visible(data, offset)
        values += found


def visible(data: PartitionData, offset: int) -> tuple[list[bytes | None], int]:
    """Returns the values of a response that a consumer returns to its application, and the next offset."""
    aborted = sorted((each.first_offset, each.producer_id) for each in data.aborted_transactions or [])
    skipped: set[int] = set()
    values: list[bytes | None] = []
    assert not isinstance(data.records, list) and data.records is not None
    for batch in batches(data.records):
        header = batch.header
        while aborted and aborted[0][0] <= header.last_offset:
            skipped.add(aborted.pop(0)[1])
        records = list(batch.records())
        if header.is_control:
            if records[0].key == b"\x00\x00" + ABORT.to_bytes(2, "big"):
                skipped.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in skipped):
            values += [record.value for record in records if record.offset >= offset]
        end = header.last_offset + 1
    return values, end
