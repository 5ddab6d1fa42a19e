"""Controls that write and read records without a client.

`produce` builds one batch for each partition and appends it by the rules of a Produce request with acks=1: the checks of the topic's
settings, timestamps, compression and the memory limit apply. `records` reads whole logs, also records that consumers cannot see yet, and
states for each record what became of its transaction.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from math import ceil
from typing import TYPE_CHECKING, Annotated

from ...protocol.errors import KafkaError
from ..control_errors import InvalidControl
from ..frozen_data import FrozenData
from .declaration import control
from .new_records import Bytes, NewRecord, check_record, place_records
from .parameters import Moment, TimeoutS, TopicName, moment_ms
from .stored_records import DecodedRecord, Record, RecordCounts, records_of
from .topics import TopicControls
from .waiting import DEFAULT_TIMEOUT_S, until

if TYPE_CHECKING:
    from ...storage.log import Log
    from ..topics.partition import Partition, Topic

OnlyPartition = Annotated[int | None, "only this partition"]
FirstOffset = Annotated[int, "only records from this offset on"]
FirstTime = Annotated[Moment | None, "begin at the first record with this time or a later one"]
RecordLimit = Annotated[int | None, "at most this many records of each partition"]
ByteLimit = Annotated[int | None, "stop in each partition after this many bytes of keys and values"]


class RecordPosition(FrozenData):
    """The place of a record that was written."""

    partition: int
    offset: int


class RecordControls(TopicControls):
    """The records of a cluster."""

    @control("record produce")
    async def produce(
        self,
        topic: TopicName,
        records: Annotated[
            Sequence[NewRecord | Bytes | tuple[Bytes, Bytes]],
            "values, pairs of key and value, or objects with value, key, headers, timestamp (ms) and partition",
        ],
        *,
        partition: Annotated[int | None, "the partition for all records that name none; by default the key decides"] = None,
    ) -> list[RecordPosition]:
        """Writes records and returns their places in the same order. A topic that does not exist is created with the defaults.

        Records without a key take turns over the partitions. Raises ControlRefused if the cluster refuses a batch, as it would
        refuse one of a client.
        """
        from .appended_records import append_records

        new = [check_record(number, record) for number, record in enumerate(records)]
        server = self._server
        with server.control_turn(f"writing records to {topic}"):
            found = self._topic_to_write(topic)
            positions = [RecordPosition(-1, -1)] * len(new)
            for index, numbers in place_records(found, new, partition).items():
                base_offset = append_records(self._partition(found, index), [new[number] for number in numbers], server.cluster)
                for offset, number in enumerate(numbers, base_offset):
                    positions[number] = RecordPosition(index, offset)
        return positions

    @control("record list", reads=True)
    async def records(
        self,
        topic: TopicName,
        partition: OnlyPartition = None,
        *,
        offset: FirstOffset = 0,
        since: FirstTime = None,
        limit: RecordLimit = None,
        max_bytes: ByteLimit = None,
    ) -> list[Record]:
        """Returns the records of a topic in the order of partitions and offsets, including open and aborted transactions."""
        found = self._topic(topic)
        for name, number in (("limit", limit), ("max_bytes", max_bytes)):
            if number is not None and number < 0:
                raise InvalidControl(name, f"must not be negative, but it is {number}")
        partitions = list(found.partitions) if partition is None else [self._partition(found, partition)]
        offsets = [max(offset, _offset_since(each.log, since)) for each in partitions]
        return [
            record
            for each, first in zip(partitions, offsets, strict=True)
            async for record in self._read(each, first, RecordBudget(limit, max_bytes))
        ]

    @control("record decode", reads=True)
    async def decoded_records(
        self,
        topic: TopicName,
        partition: OnlyPartition = None,
        *,
        offset: FirstOffset = 0,
        since: FirstTime = None,
        limit: RecordLimit = None,
        max_bytes: ByteLimit = None,
    ) -> list[DecodedRecord]:
        """Returns the records of a topic as `records` does, with keys and values as JSON if they begin with the id of a schema.

        Data that the schema registry of the cluster cannot decode have the reason in `error`.
        """
        from .decoded_records import RecordDecoder

        found = await self.records(topic, partition, offset=offset, since=since, limit=limit, max_bytes=max_bytes)
        return await self._server.schemas.read_in_thread(lambda registry: list(map(RecordDecoder(registry).decode, found)))

    @control("record wait", reads=True)
    async def wait_for_records(
        self,
        topic: TopicName,
        n: Annotated[int, "the number of records"],
        *,
        timeout_s: TimeoutS = DEFAULT_TIMEOUT_S,
    ) -> list[Record]:
        """Waits until a topic has `n` records that consumers can read (read_committed), and returns all of its records.

        The topic need not exist yet. Raises ControlTimeout with the numbers of records found.
        """
        if n < 0:
            raise InvalidControl("n", f"must not be negative, but it is {n}")
        counts = RecordCounts(lambda: self._server, topic)
        await until(lambda: self._server, lambda: True if counts.total() >= n else None, lambda: counts.missing(n), timeout_s)
        return await self.records(topic) if topic in self._server.cluster.topics else []

    def _topic_to_write(self, name: str) -> Topic:
        cluster = self._server.cluster
        if name in cluster.topics:
            return cluster.topics[name]
        if not cluster.config.booleans["auto.create.topics.enable"]:
            return self._topic(name)
        try:
            return cluster.topics.create(name)
        except KafkaError as error:
            raise InvalidControl("topic", f"{error.code.name}: {error.message}") from None

    async def _read(self, partition: Partition, offset: int, budget: RecordBudget) -> AsyncIterator[Record]:
        """Yields the records of a partition from an offset on, until the budget is used up. Other work gets turns in between."""
        from ..scheduling.turns import TurnTime

        log, turn = partition.log, TurnTime(self._server.clock.seconds)
        for batch in log.batches(max(offset, log.start_offset), log.end_offset):
            for record in records_of(partition, batch):
                if record.offset >= max(offset, log.start_offset):
                    if budget.is_used_up:
                        return
                    budget.take(record)
                    yield record
            if turn.is_over:
                await turn.begin_next()


class RecordBudget:
    """The number of records, and the bytes of their keys and values, that may still be read; None stands for any number."""

    def __init__(self, records: int | None, size_bytes: int | None) -> None:
        self._records = records
        self._bytes = size_bytes

    @property
    def is_used_up(self) -> bool:
        return self._records == 0 or (self._bytes is not None and self._bytes <= 0)

    def take(self, record: Record) -> None:
        """Subtracts a record, also one that is larger than the rest of the budget."""
        if self._records is not None:
            self._records -= 1
        if self._bytes is not None:
            self._bytes -= len(record.key or b"") + len(record.value or b"")


def _offset_since(log: Log, since: Moment | None) -> int:
    """Returns the offset of the first record from a time on, or the end of the log if there is none; 0 without a time."""
    if since is None:
        return 0
    from ..topics.timestamps import first_at

    _, offset = first_at(log, ceil(moment_ms(since)))
    return log.end_offset if offset < 0 else offset
