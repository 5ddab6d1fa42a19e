"""The records of share partitions in `__share_group_state` (Kafka's ShareCoordinatorRecordHelpers): snapshots, updates and tombstones."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from typing import NamedTuple

from ...protocol.stored.coordinator_records import (
    CoordinatorRecord,
    ShareRecordType,
    ShareSnapshotValue,
    ShareUpdateValue,
    write_key,
    write_value,
)
from ...protocol.stored.coordinator_records import SharePartitionKey as KeyMessage
from ..kafka_quirks.java_uuid import uuid_text

VERSION = 0
TOPIC_ID_LENGTH = 22
"""The length of a topic id in base 64, without padding."""


class SharePartitionKey(NamedTuple):
    """A partition that a share group reads."""

    group_id: str
    topic_id: bytes
    partition: int

    @classmethod
    def parse(cls, text: str) -> SharePartitionKey:
        """Returns the key that `text` stands for, see the property of this name. The group id may contain colons. Raises ValueError."""
        group_id, topic_id, partition = text.rsplit(":", 2)
        if not group_id.strip() or len(topic_id) != TOPIC_ID_LENGTH:
            raise ValueError(text)
        return cls(group_id, urlsafe_b64decode(topic_id + "=="), int(partition))

    @property
    def text(self) -> str:
        """The key that selects the coordinator, `group:topic id:partition` with the topic id in base 64."""
        return f"{self.group_id}:{uuid_text(self.topic_id)}:{self.partition}"


def snapshot_record(key: SharePartitionKey, value: ShareSnapshotValue | None) -> CoordinatorRecord:
    """Returns the record of a snapshot; without a value, a tombstone."""
    return CoordinatorRecord(_key(ShareRecordType.SNAPSHOT, key), None if value is None else write_value(VERSION, value))


def update_record(key: SharePartitionKey, value: ShareUpdateValue) -> CoordinatorRecord:
    return CoordinatorRecord(_key(ShareRecordType.UPDATE, key), write_value(VERSION, value))


def _key(kind: ShareRecordType, key: SharePartitionKey) -> bytes:
    return write_key(kind, KeyMessage(group_id=key.group_id, topic_id=key.topic_id, partition=key.partition))


def read_record(record: CoordinatorRecord) -> tuple[SharePartitionKey, ShareSnapshotValue | ShareUpdateValue | None]:
    """Returns the key and the value of a record. Raises ProtocolError or ValueError for other bytes."""
    kind = ShareRecordType(int.from_bytes(record.key[:2], "big"))
    message = KeyMessage.decode(VERSION, record.key[2:])
    key = SharePartitionKey(message.group_id, message.topic_id, message.partition)
    if record.value is None:
        return key, None
    value = ShareSnapshotValue if kind is ShareRecordType.SNAPSHOT else ShareUpdateValue
    return key, value.decode(VERSION, record.value[2:])
