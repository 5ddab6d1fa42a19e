from __future__ import annotations

import pytest

from odradek.protocol.schema import ProtocolError
from odradek.protocol.stored.metadata_records import (
    FORMS,
    PartitionRecord,
    TopicRecord,
    read_metadata_record,
    write_metadata_record,
)

TOPIC = TopicRecord(name="orders", topic_id=bytes(16))


def test_record_is_written_as_kafka_writes_it() -> None:
    assert write_metadata_record(TOPIC) == b"\1\2\0\7orders" + bytes(16) + b"\0"


def test_record_is_read_as_written() -> None:
    partition = PartitionRecord(
        partition_id=3,
        topic_id=bytes(16),
        replicas=[1, 2],
        isr=[1],
        removing_replicas=[],
        adding_replicas=[],
        leader=1,
        leader_epoch=7,
        partition_epoch=8,
        directories=[bytes(16), bytes(range(16))],
        eligible_leader_replicas=[2],
    )

    assert read_metadata_record(write_metadata_record(partition)) == partition
    assert read_metadata_record(write_metadata_record(TOPIC)) == TOPIC


@pytest.mark.parametrize("value", [b"\1\x40\0", b"\1\xc8\1\0", b"\1\2\5"])
def test_newer_types_and_versions_are_none(value: bytes) -> None:
    assert read_metadata_record(value) is None


@pytest.mark.parametrize("value", [b"", b"\1", b"\2\2\0", b"\xff\xff\xff\xff\xff\xff", write_metadata_record(TOPIC)[:-20]])
def test_other_bytes_are_refused(value: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_metadata_record(value)


def test_every_form_is_flexible_in_all_versions() -> None:
    assert all(form.message.flexible_from == 0 for form in FORMS.values())
