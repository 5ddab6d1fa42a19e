"""Makes the contents of a partition's folder a log in memory, with its producers and transactions."""

from __future__ import annotations

from ...protocol.batches.records import RecordBatch
from ...protocol.schema import ProtocolError
from ...protocol.stored.control_records import ControlType, EndTransactionMarker, read_control_record
from ..log import Log
from ..producer_state import MAX_SEQUENCE, CachedBatch, ProducerState
from ..producers import Producers
from .producer_snapshot import NO_OFFSET, ProducerEntry
from .stored_log import StoredLog


def load_log(log: Log, producers: Producers, stored: StoredLog, now_ms: int) -> None:
    """Fills an empty log, whose batches stay in the files. The batches behind the snapshot of producers are replayed, as Kafka does."""
    log.load(stored.segments, stored.start_offset, stored.end_offset, stored.epochs)
    entries = stored.producers.entries
    open_since = {entry.producer_id: entry.open_since for entry in entries if entry.open_since >= 0}
    producers.load({entry.producer_id: _state(entry, now_ms) for entry in entries}, open_since, stored.aborted)
    for view in stored.batches_from(stored.producers.offset):
        _replay(log, producers, RecordBatch(view), now_ms)


def _state(entry: ProducerEntry, now_ms: int) -> ProducerState:
    state = ProducerState()
    state.epoch, state.used_ms, state.timestamp = entry.epoch, now_ms, entry.timestamp
    state.coordinator_epoch = entry.coordinator_epoch
    if entry.last_offset != NO_OFFSET:
        base_offset = entry.last_offset - entry.offset_delta
        batch = CachedBatch(entry.epoch, entry.base_sequence, entry.last_sequence, base_offset, entry.last_offset, entry.timestamp)
        state.add(batch)
    return state


def _replay(log: Log, producers: Producers, batch: RecordBatch, now_ms: int) -> None:
    header = batch.header
    log.follow_epoch(header.partition_leader_epoch, header.base_offset)
    if header.producer_id < 0:
        return
    if header.is_control:
        _replay_marker(producers, batch, now_ms)
    else:
        last_sequence = (header.base_sequence + header.last_offset_delta) % (MAX_SEQUENCE + 1) if header.base_sequence >= 0 else -1
        producers.record(
            *(header.producer_id, header.producer_epoch, header.base_sequence, last_sequence),
            *(header.base_offset, header.last_offset, header.max_timestamp, now_ms),
            transactional=header.is_transactional,
        )


def _replay_marker(producers: Producers, batch: RecordBatch, now_ms: int) -> None:
    header = batch.header
    try:
        controls = [read_control_record(record.key, record.value) for record in batch.records()]
    except ProtocolError:
        return  # Kafka ends the load of the partition here; without the marker its transaction stays open
    for control in controls:
        if control is not None and isinstance(control.message, EndTransactionMarker):
            producers.end_transaction(
                *(header.producer_id, header.producer_epoch, control.message.coordinator_epoch, header.last_offset, now_ms),
                committed=control.kind is ControlType.COMMIT,
            )
