"""Rewrites batches so that of each key the last record is left (Kafka's Cleaner). Offsets never change; what is gone leaves gaps.

Records of aborted transactions go. A marker goes as a tombstone does: the first pass that finds nothing left of its transaction gives it
a delete horizon, the first one behind that removes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...protocol.record_builder import rewrite_batch
from ...protocol.records import BatchHeader, Buffer, Record, RecordBatch
from ...storage.producers import LastRecord
from ...storage.transaction_index import EndedTransaction


class Aborted:
    """The aborted transactions of a log; the header of a batch is in it if the batch belongs to one of them."""

    def __init__(self, transactions: Iterable[EndedTransaction]) -> None:
        self._extents: dict[int, list[tuple[int, int]]] = {}
        for each in transactions:
            self._extents.setdefault(each.producer_id, []).append((each.first_offset, each.last_offset))

    def __contains__(self, header: BatchHeader) -> bool:
        extents = self._extents.get(header.producer_id, ()) if header.is_transactional else ()
        return any(first <= header.base_offset <= last for first, last in extents)


def last_offsets(batches: Iterable[memoryview], aborted: Aborted) -> dict[bytes, int]:
    """The offset of each key's last record."""
    offsets: dict[bytes, int] = {}
    for view in batches:
        for record in _records(RecordBatch(view), aborted) or ():
            if record.key is not None:
                offsets[record.key] = record.offset
    return offsets


class Compactor:
    """One pass over a log at `now_ms`.

    `latest` are the last offsets of the keys that are dirty. Two kinds of batches stay even if empty: the one that ends at `last_offset`,
    so that the next offset is known, and the last one of each of the `producers`, so that its sequence number is, or its epoch.
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
        self._writing: set[int] = set()  # the producers in whose transaction the pass stands
        self.empty_markers: set[int] = set()
        """The offsets of markers before which nothing is left of their transaction."""

    def rewrite(self, view: memoryview) -> Buffer | None:
        """What is left of a batch: `view` itself, a new one, or None. The batches of a log come in their order."""
        batch = RecordBatch(view)
        header = batch.header
        horizon_ms = header.delete_horizon_ms
        expired = horizon_ms is not None and horizon_ms <= self._now_ms
        if header.is_control:
            goes = self._ends_nothing(header)
            kept = [] if goes and expired else list(batch.records())
        else:
            if header.is_transactional:
                self._writing.add(header.producer_id)
            records = _records(batch, self._aborted)
            if records is None:
                return view
            kept = [record for record in records if self._stays(record, expired)]
            goes = any(record.value is None for record in kept)
        if not kept and not self._is_last(header):
            return None
        if horizon_ms is None and goes:
            return rewrite_batch(header, kept, delete_horizon_ms=self._new_horizon_ms)
        if len(kept) == header.records_count:
            return view
        return rewrite_batch(header, kept, delete_horizon_ms=horizon_ms)

    def _ends_nothing(self, marker: BatchHeader) -> bool:
        if marker.producer_id in self._writing:
            self._writing.remove(marker.producer_id)
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

    def _stays(self, record: Record, expired: bool) -> bool:
        """Records without a key are from before the topic was compacted, and go."""
        if record.key is None or record.offset < self._latest.get(record.key, -1):
            return False
        return record.value is not None or not expired


def _records(batch: RecordBatch, aborted: Aborted) -> list[Record] | None:
    """Returns the records of a batch, none if it was aborted; None for a control batch, whose records are no client's."""
    if batch.header.is_control:
        return None
    return [] if batch.header in aborted else list(batch.records())
