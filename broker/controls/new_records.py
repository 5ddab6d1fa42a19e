"""The records that a user asks to write: checking their fields, and choosing their partitions."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, TypedDict

from ..control_errors import InvalidControl
from ..kafka_quirks.java_hash import partition_of

if TYPE_CHECKING:
    from ..topics.partition import Topic

Bytes = bytes | str | None
"""Text is encoded as UTF-8. None is an absent key, or a tombstone."""


class NewRecord(TypedDict, total=False):
    """A record to write. Without `partition`, the key chooses it as in Java's producer, and records without a key take turns."""

    value: Bytes
    key: Bytes
    headers: Mapping[str, Bytes] | Sequence[tuple[str, Bytes]]
    timestamp: int
    partition: int


class CheckedRecord:
    """A record to write whose fields have been checked."""

    __slots__ = ("headers", "key", "partition", "timestamp", "value")

    def __init__(self, number: int, fields: Mapping[str, Any]) -> None:
        where = f"records[{number}]"
        if extra := fields.keys() - NewRecord.__annotations__.keys():
            names = ", ".join(NewRecord.__annotations__)
            raise InvalidControl.at(where, f"unknown field {min(extra, key=str)!r}; the fields are {names}")
        self.key = _bytes(f"{where}.key", fields.get("key"))
        self.value = _bytes(f"{where}.value", fields.get("value"))
        headers = fields.get("headers") or ()
        pairs = headers.items() if isinstance(headers, Mapping) else headers
        try:
            self.headers = [(str(name), _bytes(f"{where}.headers", value)) for name, value in pairs]
        except (TypeError, ValueError) as error:
            reason = f"must be an object or a list of pairs of name and value; {error}"
            raise error if isinstance(error, InvalidControl) else InvalidControl.at(f"{where}.headers", reason) from None
        self.timestamp = _integer(f"{where}.timestamp", fields.get("timestamp"))
        self.partition = _integer(f"{where}.partition", fields.get("partition"))


def check_record(number: int, record: object) -> CheckedRecord:
    if isinstance(record, Mapping) and "base64" not in record:
        return CheckedRecord(number, record)
    if isinstance(record, list | tuple):
        if len(record) != 2:
            raise InvalidControl.at(f"records[{number}]", f"must be a value, a pair of key and value, or an object, not {record!r}")
        return CheckedRecord(number, {"key": record[0], "value": record[1]})
    return CheckedRecord(number, {"value": record})


def _bytes(where: str, value: object) -> bytes | None:
    """Returns bytes, UTF-8 text, or the bytes of {"base64": text}, which JSON needs for bytes that are not text."""
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, Mapping) and isinstance(text := value.get("base64"), str):
        try:
            return b64decode(text, validate=True)
        except NotBase64 as error:
            raise InvalidControl.at(where, f"invalid base64: {error}") from None
    raise InvalidControl.at(where, f'must be text, bytes, null or {{"base64": "..."}}, not {type(value).__name__}')


def _integer(where: str, value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63):
        return value
    raise InvalidControl.at(where, f"must be an integer of 64 bits, not {value!r}")


def place_records(topic: Topic, records: Sequence[CheckedRecord], partition: int | None) -> dict[int, list[int]]:
    """Returns the numbers of the records by partition. Raises InvalidControl for a partition that does not exist."""
    partitions, turns = len(topic.partitions), count()
    by_partition: dict[int, list[int]] = {}
    for number, record in enumerate(records):
        index = partition if record.partition is None else record.partition
        if index is None:
            index = next(turns) % partitions if record.key is None else partition_of(record.key, partitions)
        if not 0 <= index < partitions:
            raise InvalidControl("partition", f"{topic.name} has the partitions 0 to {partitions - 1}, not {index}")
        by_partition.setdefault(index, []).append(number)
    return by_partition
