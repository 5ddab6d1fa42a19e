"""The metadata log `__cluster_metadata-0`, its snapshots, and `bootstrap.checkpoint`, with which a controller begins (KIP-630, KIP-778).

A snapshot is a file of batches too: a control batch with the header, the records of the state, and a control batch with the footer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ...protocol.batches.record_builder import build_batch
from ...protocol.batches.records import Record, RecordBatch
from ...protocol.schema import Message, ProtocolError
from ...protocol.stored.control_records import (
    ControlRecord,
    ControlType,
    SnapshotFooterRecord,
    SnapshotHeaderRecord,
    write_control_record,
)
from ...protocol.stored.metadata_records import (
    AbortTransactionRecord,
    BeginTransactionRecord,
    EndTransactionRecord,
    read_metadata_record,
    write_metadata_record,
)
from . import names
from .names import DamagedFile, SnapshotId
from .segment_files import BATCHES, Scan, map_file

RECORDS_PER_BATCH = 500


class StoredRecord(NamedTuple):
    """A record of the metadata; `message` is None if Kafka 4.3 does not know its type or version."""

    offset: int
    message: Message | None


def read_metadata(folder: Path) -> Iterator[Message]:
    """Yields the metadata records that take effect: those of the newest snapshot, and those of the log behind it.

    A controller's transaction that was aborted, or whose end is missing, has no effect. Raises DamagedFile, OSError.
    """
    snapshots = sorted(snapshot for path in folder.iterdir() if (snapshot := SnapshotId.parse(path.name)) is not None)
    begin = 0
    if snapshots:
        begin = snapshots[-1].offset
        yield from _completed_changes(read_records(folder / snapshots[-1].file_name))
    bases = names.offsets_in(folder, names.LOG)
    records = (record for base in bases for record in read_records(folder / names.offset_name(base, names.LOG), base))
    yield from _completed_changes(record for record in records if record.offset >= begin)


def _completed_changes(records: Iterable[StoredRecord]) -> Iterator[Message]:
    transaction: list[Message] | None = None
    for _, message in records:
        if isinstance(message, BeginTransactionRecord):
            transaction = []
        elif isinstance(message, EndTransactionRecord):
            yield from transaction or ()
            transaction = None
        elif isinstance(message, AbortTransactionRecord):
            transaction = None
        elif message is not None and transaction is not None:
            transaction.append(message)
        elif message is not None:
            yield message


def read_records(path: Path, base_offset: int = 0) -> Iterator[StoredRecord]:
    """Yields the metadata records of a segment or a snapshot, up to the first invalid batch. Raises DamagedFile, OSError."""
    view = map_file(path)
    for entry in Scan(view, base_offset):
        if entry.magic != BATCHES:
            raise DamagedFile(path, f"a message of format {entry.magic} in the metadata")
        batch = RecordBatch(view[entry.position : entry.position + entry.size])
        try:
            if not batch.header.is_control:
                yield from [StoredRecord(record.offset, _message(record)) for record in batch.records()]
        except ProtocolError as error:
            raise DamagedFile(path, f"the batch at offset {entry.base_offset} cannot be read: {error}") from None


def _message(record: Record) -> Message | None:
    if record.value is None:
        raise ProtocolError(f"the metadata record at offset {record.offset} has no value")
    return read_metadata_record(record.value)


def snapshot_bytes(messages: Iterable[Message], now_ms: int) -> bytes:
    """Returns the contents of a snapshot or of `bootstrap.checkpoint`."""
    header = SnapshotHeaderRecord(last_contained_log_timestamp=now_ms)
    parts = [_control_batch(0, ControlRecord(ControlType.SNAPSHOT_HEADER, header), now_ms)]
    contained = list(messages)
    parts += record_batches(contained, 1, 1, now_ms)
    parts.append(_control_batch(len(contained) + 1, ControlRecord(ControlType.SNAPSHOT_FOOTER, SnapshotFooterRecord()), now_ms))
    return b"".join(parts)


def record_batches(messages: Iterable[Message], first_offset: int, leader_epoch: int, now_ms: int) -> list[bytearray]:
    """Returns the batches of metadata records with consecutive offsets."""
    records = [Record(offset, now_ms, None, write_metadata_record(message), []) for offset, message in enumerate(messages, first_offset)]
    groups = (records[first : first + RECORDS_PER_BATCH] for first in range(0, len(records), RECORDS_PER_BATCH))
    return [build_batch(group, base_offset=group[0].offset, partition_leader_epoch=leader_epoch) for group in groups]


def _control_batch(offset: int, record: ControlRecord, now_ms: int) -> bytearray:
    key, value = write_control_record(record)
    return build_batch([Record(offset, now_ms, key, value, [])], base_offset=offset, partition_leader_epoch=1, is_control=True)
