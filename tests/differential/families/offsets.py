"""ListOffsets, OffsetForLeaderEpoch and DeleteRecords in every version."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.messages.delete_records import DELETE_RECORDS, DeleteRecordsPartition, DeleteRecordsRequest, DeleteRecordsTopic
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.offset_for_leader_epoch import (
    OFFSET_FOR_LEADER_EPOCH,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

from ..case import Case, Send, Topic, all_versions
from ..requests import batch_of, delete_records, produce, read

FULL, EMPTY, CUT, DROPPED, APPEND = (*(Topic(f"offsets.{name}") for name in ("full", "empty", "cut", "dropped")), "offsets.append-time")
TOPICS = (FULL, EMPTY, CUT, DROPPED, Topic(APPEND, {"message.timestamp.type": "LogAppendTime"}))


def _batch(*timestamps: int, compression: Compression = Compression.NONE) -> bytes:
    records = [Record(offset, timestamp, None, b"x", []) for offset, timestamp in enumerate(timestamps)]
    return bytes(build_batch(records, compression=compression))


BATCHES = [
    _batch(1000),
    _batch(1000, 3000, 2000),
    _batch(2500, compression=Compression.GZIP),
    _batch(500, 7000, 7000),
    _batch(-1),
    _batch(6000, 6500),
]


def cases() -> Iterator[Case]:
    filled = [produce(topic.name, batch) for topic in (FULL, CUT, TOPICS[-1]) for batch in BATCHES]
    dropped = (produce(DROPPED.name, _batch(7000)), produce(DROPPED.name, _batch(1000)), delete_records(DROPPED.name, 1))
    yield Case("offsets.filled", TOPICS, (*filled, delete_records(CUT.name, 3), *dropped))
    for version in all_versions(LIST_OFFSETS):
        yield from _list_offsets(version)
    for version in all_versions(OFFSET_FOR_LEADER_EPOCH):
        yield from _epochs(version)
    for version in all_versions(DELETE_RECORDS):
        yield from _delete_records(version)


def _list_offsets(version: int) -> Iterator[Case]:
    def case(name: str, *topics: tuple[str, list[ListOffsetsPartition]], replica: int = -1, isolation: int = 0, node: int = 1) -> Case:
        requested = [ListOffsetsTopic(name=topic, partitions=partitions) for topic, partitions in topics]
        request = ListOffsetsRequest(replica_id=replica, isolation_level=isolation, topics=requested)
        return Case(f"offsets.list.v{version}.{name}", TOPICS, (Send(LIST_OFFSETS, version, request, node=node),))

    def at(timestamp: int, partition: int = 0, epoch: int = -1) -> ListOffsetsPartition:
        return ListOffsetsPartition(partition_index=partition, current_leader_epoch=epoch, timestamp=timestamp)

    times = (0, 500, 1000, 1001, 1999, 2000, 2001, 2500, 2501, 3000, 3001, 6000, 6500, 7000, 7001, 1 << 50)
    for topic in (FULL.name, CUT.name):
        yield from (case(f"{topic.split('.')[1]}.{time}", (topic, [at(time)])) for time in times)
    for topic in (FULL.name, CUT.name, EMPTY.name, DROPPED.name, APPEND):
        yield from (case(f"{topic.split('.')[1]}.{special}", (topic, [at(special)])) for special in range(-7, 1))
    yield case("committed", *((topic.name, [at(-1)]) for topic in TOPICS), isolation=1)
    yield case("nothing")
    yield case("no-partitions", (FULL.name, []))
    yield case("unknown-topic", ("nobody", [at(-1)]), (FULL.name, [at(-1)]))
    yield case("unknown-partition", (FULL.name, [at(-1, partition=7), at(-1, partition=-1)]))
    yield case("twice", (FULL.name, [at(-1), at(-2)]), (EMPTY.name, [at(-1)]))
    yield case("twice.topic", (FULL.name, [at(-1)]), (FULL.name, [at(-2)]))
    yield case("wrong-leader", (FULL.name, [at(-1), at(-1, partition=1)]), node=2)
    yield from (case(f"epoch.{epoch}", (FULL.name, [at(-1, epoch=epoch)])) for epoch in (-2, 0, 1))
    yield from (case(f"replica.{replica}", (FULL.name, [at(-1)]), replica=replica) for replica in (-2, -3))
    for replica in (-1, -2, 2):
        followed = Topic(f"offsets.list.v{version}.follower.{replica}", replicas=((1, 2),))
        requested = [ListOffsetsTopic(name=followed.name, partitions=[at(-1)])]
        asked = Send(LIST_OFFSETS, version, ListOffsetsRequest(replica_id=replica, topics=requested), node=2)
        yield Case(followed.name, (followed,), (produce(followed.name, BATCHES[1]), asked))


def _epochs(version: int) -> Iterator[Case]:
    def case(name: str, *topics: tuple[str, list[OffsetForLeaderPartition]], node: int = 1) -> Case:
        requested = [OffsetForLeaderTopic(topic=topic, partitions=partitions) for topic, partitions in topics]
        request = OffsetForLeaderEpochRequest(topics=requested)
        return Case(f"offsets.epoch.v{version}.{name}", TOPICS, (Send(OFFSET_FOR_LEADER_EPOCH, version, request, node=node),))

    def of(epoch: int, partition: int = 0, current: int = -1) -> OffsetForLeaderPartition:
        return OffsetForLeaderPartition(partition=partition, current_leader_epoch=current, leader_epoch=epoch)

    for topic in (FULL.name, EMPTY.name, CUT.name):
        yield from (case(f"{topic.split('.')[1]}.{epoch}", (topic, [of(epoch)])) for epoch in (-2, -1, 0, 1, 5))
    yield from (case(f"current.{current}", (FULL.name, [of(0, current=current)])) for current in (-2, 0, 1))
    yield case("unknown", ("nobody", [of(0)]), (FULL.name, [of(0, partition=7), of(0, partition=-1)]))
    yield case("nothing")
    yield case("no-partitions", (FULL.name, []))
    yield case("twice", (FULL.name, [of(0), of(0)]))
    yield case("wrong-leader", (FULL.name, [of(0), of(0, partition=1)]), node=2)


def _delete_records(version: int) -> Iterator[Case]:
    def case(name: str, *wanted: tuple[int, int], node: int = 1, config: str = "delete", records: int = 5) -> Case:
        topic = Topic(f"offsets.delete.v{version}.{name}", {"cleanup.policy": config})
        batches = [produce(topic.name, batch_of(b"x", b"y", key=b"k")) for _ in range(records // 2)]
        partitions = [DeleteRecordsPartition(partition_index=index, offset=offset) for index, offset in wanted]
        request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(name=topic.name, partitions=partitions)], timeout_ms=1000)
        return Case(
            topic.name,
            (topic,),
            (*batches, Send(DELETE_RECORDS, version, request, node=node), read(topic.name), read(topic.name, offset=3)),
        )

    for offset in (-2, -1, 0, 1, 2, 3, 4, 5, 1 << 40):
        yield case(f"to.{offset}", (0, offset))
    yield case("empty", (0, -1), records=0)
    yield case("no-partitions")
    yield case("unknown-partition", (7, 0), (-1, 0))
    yield case("twice", (0, 1), (0, 3))
    yield case("wrong-leader", (0, 1), node=2)
    yield case("compact", (0, 1), config="compact")
    yield case("compact-delete", (0, 1), config="compact,delete")
    for name, topics in (("nothing", []), ("unknown-topic", ["nobody"]), ("internal", ["__consumer_offsets"])):
        partition = DeleteRecordsPartition(partition_index=0, offset=0)
        requested = [DeleteRecordsTopic(name=topic, partitions=[partition]) for topic in topics]
        send = Send(DELETE_RECORDS, version, DeleteRecordsRequest(topics=requested, timeout_ms=1000))
        yield Case(f"offsets.delete.v{version}.{name}", (), (send,))
