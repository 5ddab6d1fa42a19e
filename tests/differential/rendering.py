"""Renders answers as lines of text without values that may differ between two clusters that behave alike.

* Replaced: topic ids by names, bound values by their names, the present time by "now", ports and random ids by "*", and error messages,
  of which only null, empty or present is kept.
* Sorted: lists in the answers of `HASH_ORDERED`, which Kafka keeps in hash tables.
* Left out: fields that have their default values, and a batch that is cut off at the end of a Fetch answer (Kafka sends its beginning,
  our broker does not).
* Records of compressed batches are shown decompressed, because two implementations of a codec need not write the same bytes. The APIs and
  features of ApiVersions are shown by key and by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import md5
from typing import Any

from odradek.protocol.batches.compression import InvalidCompression, decompress
from odradek.protocol.batches.message_sets import LegacyMessage, inner_messages, outer_messages
from odradek.protocol.batches.records import HEADER, MAGIC_POSITION, BatchError, BatchHeader, InvalidRecords, RecordBatch, batches
from odradek.protocol.schema import ZERO_UUID, Api, Message, Spec, has_default, specs

HASH_ORDERED = {
    "Produce",
    "ListOffsets",
    "DeleteRecords",
    "JoinGroup",
    "DescribeGroups",
    "ListGroups",
    "DeleteGroups",
    "OffsetFetch",
    "OffsetDelete",
    "ConsumerGroupHeartbeat",
    "ConsumerGroupDescribe",
    "StreamsGroupHeartbeat",
    "StreamsGroupDescribe",
    "AddPartitionsToTxn",
    "DescribeProducers",
    "DescribeTransactions",
    "ListTransactions",
    "WriteTxnMarkers",
    "CreateTopics",
    "DeleteTopics",
    "CreatePartitions",
    "DescribeTopicPartitions",
    "ListPartitionReassignments",
    "AlterConfigs",
    "IncrementalAlterConfigs",
    "DescribeAcls",
    "DeleteAcls",
    "DescribeLogDirs",
    "AlterReplicaLogDirs",
    "DescribeConfigs",
    "AlterClientQuotas",
    "DescribeClientQuotas",
    "UpdateFeatures",
    "DescribeDelegationToken",
    "ShareGroupHeartbeat",
    "ShareGroupDescribe",
    "DescribeShareGroupOffsets",
    "AlterShareGroupOffsets",
    "DeleteShareGroupOffsets",
    "ShareFetch",
    "ShareAcknowledge",
    "InitializeShareGroupState",
    "ReadShareGroupState",
    "WriteShareGroupState",
    "DeleteShareGroupState",
    "ReadShareGroupStateSummary",
}
SHARE_APIS = {
    "ShareGroupHeartbeat",
    "ShareGroupDescribe",
    "DescribeShareGroupOffsets",
    "AlterShareGroupOffsets",
    "DeleteShareGroupOffsets",
}
APIS_WITH_TEXTS = {"SaslAuthenticate", *SHARE_APIS}
"""APIs whose error messages are compared too, because clients show them to their users. Their bytes are shown as text."""
TEXTS = {"error_message", "acknowledge_error_message", "batch_index_error_message", "documentation"}
RANDOM_FIELDS = {
    "finalized_features_epoch",
    "port",
    "controller_id",
    "cluster_id",
    "producer_id",
    "session_id",
    "total_bytes",
    "usable_bytes",
}
RANDOM_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|(?<![\w-])[\w-]{8}[Q-T][\w-]{13}(?![\w-])")
"""UUIDs of version 4, in the formats of Java and of Kafka's Uuid."""
LONG_LIFETIME_MS = 10**9
"""Lifetimes beyond this one are those of tokens that expire at a fixed time, so they depend on the present time."""
THROTTLED_LATER = {"CreateTopics", "CreatePartitions", "DeleteTopics"}
"""APIs whose throttle times shrink by the milliseconds that pass before the answer. They are rounded up to seconds."""
SHOWN_BYTES, SHOWN_CHARACTERS = 48, 400
DECOMPRESSED_LIMIT = 1 << 24


class Renderer:
    """Renders answers of one cluster. Times from `began_ms` to `ended_ms` count as the present."""

    def __init__(
        self, names: Mapping[bytes, str], bound: Mapping[str, str], began_ms: int, ended_ms: int, numbers: Mapping[int, str] | None = None
    ) -> None:
        self.names, self.bound, self.began_ms, self.ended_ms, self.numbers = names, bound, began_ms, ended_ms, numbers or {}

    def line(self, api: Api, version: int, response: Message, *, in_order: bool = False) -> str:
        """Returns the answer as one line of JSON; `in_order` keeps the order of lists."""
        self.shows_texts = api.name in APIS_WITH_TEXTS
        value = self.message(response, version)
        if api.name in THROTTLED_LATER and "throttle_time_ms" in value:
            value["throttle_time_ms"] = -(-value["throttle_time_ms"] // 1000) * 1000
        if api.name == "DescribeTransactions":
            for topic in (topic for state in value["transaction_states"] for topic in state["topics"]):
                topic["partitions"].sort()
        if api.name == "ApiVersions":
            value = {name: _by_key(field) if isinstance(field, list) else field for name, field in value.items()}
        return json.dumps(
            sort_lists(value) if api.name in HASH_ORDERED and not in_order else value, separators=(",", ":"), ensure_ascii=True
        )

    def message(self, message: Message, version: int) -> dict[str, Any]:
        shown = {}
        for spec in specs(type(message)):
            value = getattr(message, spec.name)
            if spec.present(version) and not (has_default(spec.declared) and value == _default(spec)):
                shown[spec.name] = self.value(spec, value, version)
        return shown

    def value(self, spec: Spec, value: Any, version: int) -> Any:
        if isinstance(value, list) and spec.array:
            return [self.value(spec, item, version) for item in value]
        if isinstance(value, Message):
            return self.message(value, version)
        if spec.kind == "records" and value is not None:
            return self.records(value)
        return self.scalar(spec, value)

    def scalar(self, spec: Spec, value: Any) -> Any:
        if spec.name == "hmac":
            return f"{len(value)} bytes" if value else ""
        if spec.name == "session_lifetime_ms" and value > LONG_LIFETIME_MS:
            return "*"
        if isinstance(value, bytes) and self.shows_texts and spec.kind != "16s":
            return value.decode("utf-8", "replace")
        if isinstance(value, bytes):
            return self.topic_id(value) if spec.kind == "16s" else _shown(value)
        if spec.name in TEXTS and value and not self.shows_texts:
            return "…"
        if spec.name == "producer_id" and value in self.numbers:
            return f"${self.numbers[value]}"
        if spec.name == "log_dir":
            shown = self.text(value)
            return shown if shown.startswith("$") else "*"
        if spec.name in RANDOM_FIELDS and value not in (-1, 0):
            return "*"
        if spec.kind == "q":
            return self.time(value)
        return self.text(value) if isinstance(value, str) else value

    def text(self, value: str) -> str:
        for text, name in self.bound.items():
            value = value.replace(text, f"${name}")
        return RANDOM_ID.sub("*", value) if len(value) <= SHOWN_CHARACTERS else _shown(value.encode())

    def topic_id(self, value: bytes) -> str:
        return "" if value == ZERO_UUID else self.names.get(value, "drawn")

    def time(self, value: int) -> int | str:
        return "now" if self.began_ms <= value <= self.ended_ms else value

    def records(self, value: Any) -> list[str]:
        data = b"".join(value) if isinstance(value, list) else bytes(value)
        if len(data) > MAGIC_POSITION and data[MAGIC_POSITION] < 2:
            messages = list(self.messages(memoryview(data)))
            # Wrappers of two implementations of a codec have different sizes, so that they are shown by their messages only.
            return messages if any(line.startswith(" ") for line in messages) else [f"{len(data)} bytes", *messages]
        try:
            return [self.batch(batch) for batch in batches(data)]
        except (BatchError, InvalidRecords) as error:
            return [f"{error}: {data.hex()}"]

    def messages(self, data: memoryview) -> Iterator[str]:
        """Yields the messages of a message set, those in wrappers after their wrapper."""
        for message in outer_messages(data, len(data)):
            value = b"" if message.codec else message.value
            yield f"{self.message_line(message)} {value if value is None else _shown(value)}"
            for inner in inner_messages(message) if message.codec else ():
                yield f"  {self.message_line(inner)} {inner.value if inner.value is None else _shown(inner.value)}"

    def message_line(self, message: LegacyMessage) -> str:
        key = message.key if message.key is None else _shown(message.key)
        return f"{message.offset} magic={message.magic} attributes={message.attributes} time={self.time(message.timestamp)} {key}"

    def batch(self, batch: RecordBatch) -> str:
        """Returns offsets, epoch, attributes, times, producer, count, CRC and records of one batch."""
        header = batch.header
        return (
            f"{header.base_offset}..{header.last_offset} epoch={header.partition_leader_epoch} attributes={header.attributes}"
            f" times={self.time(header.base_timestamp)}..{self.time(header.max_timestamp)}"
            f" producer={self.numbers.get(header.producer_id, header.producer_id)}/{header.producer_epoch}/{header.base_sequence}"
            f" count={header.records_count}"
            f" crc={'ok' if batch.crc_valid() else 'bad'} {_payload(batch.view[HEADER.size :], header)}"
        )


def _by_key(items: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Returns the items by their first field, so that each API and each feature is compared separately."""
    return {str(key): rest for key, *rest in (item.values() for item in items)}


def _payload(view: memoryview, header: BatchHeader) -> str:
    try:
        data = decompress(header.compression, view, DECOMPRESSED_LIMIT)
    except InvalidCompression:
        data = bytes(view)
    return _shown(data)


def _shown(data: bytes) -> str:
    return data.hex() if len(data) <= SHOWN_BYTES else f"{len(data)} bytes, md5 {md5(data, usedforsecurity=False).hexdigest()}"


def _default(spec: Spec) -> Any:
    return [] if spec.array and spec.declared.default_factory else spec.declared.default


def sort_lists(value: Any) -> Any:
    """Returns the value with every list of objects sorted by their text."""
    if isinstance(value, dict):
        return {key: sort_lists(item) for key, item in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return sorted((sort_lists(item) for item in value), key=json.dumps)
    return value
