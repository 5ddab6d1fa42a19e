"""Handles of topics, which write and read records in formats: `cluster.topic("orders", value=formats.json)`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..controls.new_records import NewRecord
from ..controls.records import RecordPosition
from ..controls.stored_records import Record, TransactionState
from ..controls.waiting import DEFAULT_TIMEOUT_S
from ..frozen_data import FrozenData
from .formats import Format, deserialize, serialize

if TYPE_CHECKING:
    from .cluster import AsyncCluster, Cluster

Headers = Mapping[str, bytes | str | None] | Sequence[tuple[str, bytes | str | None]]


class TopicRecord(FrozenData):
    """A stored record whose key and value have been read by the formats of a handle. `timestamp` is in ms since 1970.

    `transaction` is None for a record outside of transactions.
    """

    partition: int
    offset: int
    timestamp: int
    key: Any
    value: Any
    headers: tuple[tuple[str, bytes | None], ...] = ()
    transaction: TransactionState | None = None


class AnyTopic:
    """The part that the handles of both kinds of clusters have in common."""

    def __init__(self, name: str, key: Format, value: Format) -> None:
        for parameter, given in (("key", key), ("value", value)):
            if not isinstance(given, Format):
                raise TypeError(f"{parameter} must be a Format, such as formats.json, not {given!r}")
        self.name = name
        self._key = key
        self._value = value

    def __repr__(self) -> str:
        return f"<topic {self.name}>"

    def _new(self, value: Any, **fields: Any) -> NewRecord:
        given: dict[str, Any] = {name: field for name, field in fields.items() if field is not None}
        record = NewRecord(value=serialize(self._value, value), key=serialize(self._key, given.pop("key", None)))
        record.update(given)  # type: ignore[typeddict-item]  # the control checks the fields
        return record

    def _pairs(self, records: Iterable[Any]) -> list[NewRecord]:
        """Returns the records to write: a tuple is a key with a value, and everything else a value."""
        return [self._new(each[1], key=each[0]) if isinstance(each, tuple) and len(each) == 2 else self._new(each) for each in records]

    def _read(self, records: Iterable[Record]) -> list[TopicRecord]:
        return [
            TopicRecord(
                each.partition,
                each.offset,
                each.timestamp,
                deserialize(self._key, each.key),
                deserialize(self._value, each.value),
                each.headers,
                each.transaction,
            )
            for each in records
        ]


class AsyncTopic(AnyTopic):
    """A topic of an `AsyncCluster`, which need not exist yet."""

    def __init__(self, cluster: AsyncCluster, name: str, key: Format, value: Format) -> None:
        super().__init__(name, key, value)
        self._cluster = cluster

    async def produce(
        self,
        value: Any,
        *,
        key: Any = None,
        headers: Headers | None = None,
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> RecordPosition:
        """Writes one record and returns its place. A topic that does not exist is created with the defaults."""
        record = self._new(value, key=key, headers=headers, partition=partition, timestamp=timestamp)
        return (await self._cluster.produce(self.name, [record]))[0]

    async def produce_all(self, records: Iterable[Any], *, partition: int | None = None) -> list[RecordPosition]:
        """Writes values, or pairs of key and value, and returns their places in the same order."""
        return await self._cluster.produce(self.name, self._pairs(records), partition=partition)

    async def records(self, partition: int | None = None, *, offset: int = 0, limit: int | None = None) -> list[TopicRecord]:
        """Returns the stored records in the order of partitions and offsets, including open and aborted transactions."""
        return self._read(await self._cluster.records(self.name, partition, offset=offset, limit=limit))

    async def wait_for(self, n: int, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> list[TopicRecord]:
        """Waits until consumers can read `n` records, and returns all records. Raises ControlTimeout with the numbers found."""
        return self._read(await self._cluster.wait_for_records(self.name, n, timeout_s=timeout_s))


class Topic(AnyTopic):
    """A topic of a `Cluster`, which need not exist yet."""

    def __init__(self, cluster: Cluster, name: str, key: Format, value: Format) -> None:
        super().__init__(name, key, value)
        self._cluster = cluster

    def produce(
        self,
        value: Any,
        *,
        key: Any = None,
        headers: Headers | None = None,
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> RecordPosition:
        """Writes one record and returns its place. A topic that does not exist is created with the defaults."""
        record = self._new(value, key=key, headers=headers, partition=partition, timestamp=timestamp)
        return self._cluster.produce(self.name, [record])[0]

    def produce_all(self, records: Iterable[Any], *, partition: int | None = None) -> list[RecordPosition]:
        """Writes values, or pairs of key and value, and returns their places in the same order."""
        return self._cluster.produce(self.name, self._pairs(records), partition=partition)

    def records(self, partition: int | None = None, *, offset: int = 0, limit: int | None = None) -> list[TopicRecord]:
        """Returns the stored records in the order of partitions and offsets, including open and aborted transactions."""
        return self._read(self._cluster.records(self.name, partition, offset=offset, limit=limit))

    def wait_for(self, n: int, *, timeout_s: float = DEFAULT_TIMEOUT_S) -> list[TopicRecord]:
        """Waits until consumers can read `n` records, and returns all records. Raises ControlTimeout with the numbers found."""
        return self._read(self._cluster.wait_for_records(self.name, n, timeout_s=timeout_s))
