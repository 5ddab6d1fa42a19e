"""Rewrites batches so that the last record of each key remains (Kafka's Cleaner). Offsets never change; removed records leave gaps.

Apart from superseded records, these rules apply:

* A tombstone (a record without a value) is kept for delete.retention.ms, so that consumers receive the deletion. The first pass that keeps
  it writes a delete horizon into the batch header (KIP-534), and the first pass after the horizon removes it.
* Records of aborted transactions are removed, and do not supersede other records.
* A transaction marker is treated like a tombstone: the first pass that finds no record of its transaction left sets a delete horizon,
  and the first pass after the horizon removes the marker.
* A batch that has lost all its records is kept, empty, if it is the last one before the end of the pass, because the next offset follows
  from it, or if it is the last one of its producer, because it contains the producer's sequence number and epoch.
* Records without a key are removed. They were written before compaction was enabled for the topic.

A batch that loses records is built again in its own compression (`protocol/batches/record_builder.py`); the others keep their bytes.
`storage/compaction_schedule.py` determines when a log is compacted, and which part of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...protocol.batches.record_builder import rewrite_batch
from ...protocol.batches.records import BatchHeader, Buffer, Record, RecordBatch
from ...storage.producers import LastRecord
from ...storage.transaction_index import EndedTransaction


class Aborted:
    """The aborted transactions of a log. `header in aborted` is true for the batches of these transactions."""

    def __init__(self, transactions: Iterable[EndedTransaction]) -> None:
        self._extents: dict[int, list[tuple[int, int]]] = {}
        for each in transactions:
            self._extents.setdefault(each.producer_id, []).append((each.first_offset, each.last_offset))

    def __contains__(self, header: BatchHeader) -> bool:
        extents = self._extents.get(header.producer_id, ()) if header.is_transactional else ()
        return any(first <= header.base_offset <= last for first, last in extents)


class LastOffsets:
    """The offset of the last record of each key, in the batches that were added (Kafka's OffsetMap)."""

    def __init__(self, aborted: Aborted) -> None:
        self.offsets: dict[bytes, int] = {}
        self._aborted = aborted

    def add(self, batch: RecordBatch) -> None:
        """Adds the records of a batch, which follows all batches that were added before."""
        if batch.header.is_control:
            return
        for record in _records(batch, self._aborted):
            if record.key is not None:
                self.offsets[record.key] = record.offset


class Compactor:
    """One pass over the batches of a log, at the time `now_ms`.

    `latest` maps each key of the dirty part to its last offset. `last_offset` is the last offset of the dirty part. `producers` maps each
    producer id to its last record.
    """

    def __init__(
        self,
        latest: Mapping[bytes, int],
        aborted: Aborted,
        last_offset: int,
        producers: Mapping[int, LastRecord],
        now_ms: int,
        delete_retention_ms: int,
    ) -> None:
        self._latest = latest
        self._aborted = aborted
        self._last_offset = last_offset
        self._producers = producers
        self._now_ms = now_ms
        self._new_horizon_ms = now_ms + delete_retention_ms
        self._in_transaction: set[int] = set()  # producer ids with a batch since their last marker
        self.empty_markers: set[int] = set()
        """The offsets of the markers whose transactions have no records left."""

    def rewrite(self, batch: RecordBatch) -> Buffer | None:
        """Returns the remaining part of a batch: `batch.view` itself, a new batch, or None.

        Batches must be passed in the order of the log.
        """
        header = batch.header
        horizon_ms = header.delete_horizon_ms
        expired = horizon_ms is not None and horizon_ms <= self._now_ms
        if header.is_control:
            deletable = self._ends_empty_transaction(header)
            kept = [] if deletable and expired else list(batch.records())
        else:
            if header.is_transactional:
                self._in_transaction.add(header.producer_id)
            kept = [record for record in _records(batch, self._aborted) if self._is_kept(record, expired)]
            deletable = any(record.value is None for record in kept)
        if not kept and not self._is_last(header):
            return None
        if horizon_ms is None and deletable:
            return rewrite_batch(header, kept, delete_horizon_ms=self._new_horizon_ms)
        if len(kept) == header.records_count:
            return batch.view
        return rewrite_batch(header, kept, delete_horizon_ms=horizon_ms)

    def _ends_empty_transaction(self, marker: BatchHeader) -> bool:
        if marker.producer_id in self._in_transaction:
            self._in_transaction.remove(marker.producer_id)
            return False
        self.empty_markers.add(marker.base_offset)
        return True

    def _is_last(self, header: BatchHeader) -> bool:
        if header.last_offset == self._last_offset:
            return True
        last = self._producers.get(header.producer_id)
        if last is None:
            return False
        return header.last_offset == last.offset if last.offset >= 0 else header.is_control and header.producer_epoch == last.epoch

    def _is_kept(self, record: Record, expired: bool) -> bool:
        if record.key is None or record.offset < self._latest.get(record.key, -1):
            return False
        return record.value is not None or not expired


def _records(batch: RecordBatch, aborted: Aborted) -> list[Record]:
    return [] if batch.header in aborted else list(batch.records())
