"""Random sequences of Produce, Fetch, ListOffsets and DeleteRecords, each for its own topic. The name of a case contains the seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic

from ..case import Case, Send, Topic
from ..requests import delete_records, produce
from .fetch import request_of, wanted

SEQUENCES, STEPS = 150, 12


def cases() -> Iterator[Case]:
    for seed in range(SEQUENCES):
        random, name = Random(seed), f"sequences.{seed}"
        configs = {"message.timestamp.type": "LogAppendTime"} if seed % 10 == 9 else {}
        sequence = Sequence(random, name, has_latest=not configs)
        yield Case(name, (Topic(name, configs, ((1,),)),), tuple(sequence.step() for _ in range(STEPS)))


class Sequence:
    """Draws requests that are probably valid, from an estimate of the end of the log."""

    def __init__(self, random: Random, topic: str, has_latest: bool) -> None:
        self.random, self.topic = random, topic
        self.end = 0
        self.has_latest = has_latest
        """Whether ListOffsets may request the latest timestamp.

        With LogAppendTime several batches may have it, and Kafka may report the timestamp of a deleted record.
        """
        self.sequences = {7: 0, 8: 0}

    def one_of(self, *choices: int) -> int:
        return choices[int(self.random.random() * len(choices))]

    def step(self) -> Send:
        kind = self.random.random()
        if kind < 0.45:
            return self.produce()
        if kind < 0.7:
            return self.fetch()
        if kind < 0.88:
            return self.list_offsets()
        self.has_latest = False
        return delete_records(self.topic, self.offset())

    def offset(self) -> int:
        return self.one_of(-1, 0, 1, self.end // 2, self.end - 1, self.end, self.end, self.end + 1)

    def produce(self) -> Send:
        count, start = self.one_of(1, 1, 2, 3, 7), self.one_of(-1, 0, 1000, 2000, 2000, 3000)
        times = [start + self.one_of(0, 0, 1, 500, 70) if start >= 0 else start for _ in range(count)]
        records = [Record(n, time, None, b"v" * self.one_of(0, 1, 100), []) for n, time in enumerate(times)]
        producer = self.one_of(-1, -1, -1, 7, 8)
        sequence = -1
        if producer >= 0:
            sequence = max(0, self.sequences[producer] + self.one_of(0, 0, 0, 0, -1, -2, 1))
            self.sequences[producer] = sequence + count
        codec = Compression(self.one_of(0, 0, 0, 1, 2, 3, 4))
        self.end += count
        batch = build_batch(
            records, compression=codec, producer_id=producer, producer_epoch=0 if producer >= 0 else -1, base_sequence=sequence
        )
        return produce(self.topic, bytes(batch))

    def fetch(self) -> Send:
        most = self.one_of(1, 100, 200, 500, 1 << 20, 1 << 20)
        requested = wanted(self.offset(), most=most, last_fetched_epoch=self.one_of(-1, -1, 0))
        return Send(FETCH, 12, request_of((self.topic, [requested]), isolation_level=self.one_of(0, 1)))

    def list_offsets(self) -> Send:
        time = self.one_of(-1, -2, -3 if self.has_latest else -1, 0, 1000, 1500, 2000, 2001, 2500, 3000, 3001)
        partition = ListOffsetsPartition(partition_index=0, timestamp=time)
        topic = ListOffsetsTopic(name=self.topic, partitions=[partition])
        return Send(LIST_OFFSETS, 9, ListOffsetsRequest(replica_id=-1, topics=[topic]))
