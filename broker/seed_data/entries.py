"""The entries of seed data, and their representation as JSON objects.

A line of JSON is a record or a topic:

    {"topic": "orders", "key": "alice", "value": {"id": 1}, "headers": {"trace": "1"}, "timestamp": 1700000000000, "partition": 0}
    {"topic": "orders", "partitions": 4, "configs": {"cleanup.policy": "compact"}}

A key or value that is text is encoded as UTF-8, {"base64": "..."} stands for bytes, and anything else is encoded as JSON without blanks. If
the key is null, the record has no key; if the value is null, the record is a tombstone.

A record may belong to a transaction that was "committed", "aborted", or is still "open".
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Iterable, Mapping
from datetime import datetime
from json import dumps
from typing import Any, Literal, NamedTuple, get_args

from ..settings.properties import as_text

TransactionState = Literal["open", "committed", "aborted"]
Headers = tuple[tuple[str, bytes | None], ...]
RECORD_FIELDS = ("topic", "partition", "timestamp", "key", "value", "headers", "transaction")
BASE64 = '{"base64":'
"""The beginning of bytes in a cell of CSV."""
TOPIC_FIELDS = ("topic", "partitions", "replication_factor", "configs")


class InvalidSeedData(ValueError):
    """A line that is not an entry."""


class SeedTopic(NamedTuple):
    """A topic to create, unless it exists. -1 stands for the broker's default."""

    name: str
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]


class SeedRecord(NamedTuple):
    """A record to write. `timestamp` is in ms since 1970; without it, the record gets the time of the start.

    Without `partition`, the key chooses the partition, and records without a key take turns.
    """

    topic: str
    partition: int | None
    timestamp: int | None
    key: bytes | None
    value: bytes | None
    headers: Headers
    transaction: TransactionState | None


def entry_of(line: Mapping[str, Any], default_topic: str) -> SeedTopic | SeedRecord:
    """Returns the entry that an object describes. Raises InvalidSeedData."""
    topic = line.get("topic", default_topic)
    if not isinstance(topic, str) or not topic:
        raise InvalidSeedData(f"topic: must be the name of a topic, not {topic!r}")
    fields = TOPIC_FIELDS if "partitions" in line else RECORD_FIELDS
    if unknown := [name for name in line if name not in fields]:
        raise InvalidSeedData(f"unknown field {unknown[0]!r}; the fields of a {_kind(fields)} are {', '.join(fields)}")
    return _topic(topic, line) if fields is TOPIC_FIELDS else _record(topic, line)


def _kind(fields: Iterable[str]) -> str:
    return "topic" if fields is TOPIC_FIELDS else "record"


def _topic(name: str, line: Mapping[str, Any]) -> SeedTopic:
    configs = line.get("configs") or {}
    if not isinstance(configs, Mapping):
        raise InvalidSeedData(f'configs: must be an object such as {{"cleanup.policy": "compact"}}, not {configs!r}')
    try:
        texts = {key: as_text(key, value) for key, value in configs.items()}
    except TypeError as error:
        raise InvalidSeedData(f"configs: {error}") from None
    partitions, replicas = (_integer(field, line.get(field)) for field in ("partitions", "replication_factor"))
    for field, number in (("partitions", partitions), ("replication_factor", replicas)):
        if number is not None and number < 1:
            raise InvalidSeedData(f"{field}: must be at least 1, not {number}")
    return SeedTopic(name, partitions or -1, replicas or -1, texts)


def _record(topic: str, line: Mapping[str, Any]) -> SeedRecord:
    transaction = line.get("transaction")
    if transaction is not None and transaction not in get_args(TransactionState):
        raise InvalidSeedData(f"transaction: must be one of {', '.join(get_args(TransactionState))}, not {transaction!r}")
    return SeedRecord(
        topic,
        _integer("partition", line.get("partition")),
        _timestamp(line.get("timestamp")),
        _bytes("key", line.get("key")),
        _bytes("value", line.get("value")),
        _headers(line.get("headers") or ()),
        transaction,
    )


def _integer(name: str, value: Any) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise InvalidSeedData(f"{name}: must be an integer, not {value!r}")


def _timestamp(value: Any) -> int | None:
    if not isinstance(value, str):
        return _integer("timestamp", value)
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidSeedData(f"timestamp: must be ms since 1970, or a time such as 2026-01-31T12:00:00Z, not {value!r}") from None
    if moment.tzinfo is None:
        raise InvalidSeedData(f"timestamp: {value!r} has no time zone; write {value}Z for UTC")
    return round(moment.timestamp() * 1000)


def _bytes(name: str, value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, Mapping) and value.keys() == {"base64"}:
        try:
            return b64decode(value["base64"], validate=True)
        except (NotBase64, TypeError, ValueError) as error:
            raise InvalidSeedData(f"{name}: invalid base64: {error}") from None
    return dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _headers(value: Any) -> Headers:
    pairs = value.items() if isinstance(value, Mapping) else value
    try:
        return tuple((str(name), _bytes(f"headers: {name}", each)) for name, each in pairs)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidSeedData):
            raise
        raise InvalidSeedData(f"headers: must be an object or a list of pairs of name and value, not {value!r}") from None


def plain(data: bytes | None) -> str | dict[str, str] | None:
    """Returns a key or a value as it is written to a file: text if it is UTF-8, otherwise base64."""
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": b64encode(data).decode()}
