"""Rewrites batches so that of each key the last record is left (Kafka's Cleaner). Offsets never change; what is gone leaves gaps.

Records of aborted transactions go. Not done: markers stay for ever, also when nothing is left of their transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..protocol.compression import UnsupportedCompression
from ..protocol.record_builder import rewrite_batch
from ..protocol.records import BatchHeader, Buffer, Record, RecordBatch
from ..storage.producers import EndedTransaction


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

    `latest` are the last offsets of the keys that are dirty. The batches that end at one of `kept_ends` stay even if empty: the last
    one of the pass, so that the next offset is known, and the last one of each producer, so that its sequence number is.
    """

    def __init__(
        self, latest: Mapping[bytes, int], aborted: Aborted, kept_ends: Iterable[int], now_ms: int, delete_retention_ms: int
    ) -> None:
        self._latest = latest
        self._aborted = aborted
        self._kept_ends = frozenset(kept_ends)
        self._now_ms = now_ms
        self._new_horizon_ms = now_ms + delete_retention_ms

    def rewrite(self, view: memoryview) -> Buffer | None:
        """What is left of a batch: `view` itself, a new one, or None."""
        batch = RecordBatch(view)
        header = batch.header
        records = _records(batch, self._aborted)
        if records is None:
            return view
        horizon_ms = header.delete_horizon_ms
        expired = horizon_ms is not None and horizon_ms <= self._now_ms
        kept = [record for record in records if self._stays(record, expired)]
        if not kept and header.last_offset not in self._kept_ends:
            return None
        if horizon_ms is None and any(record.value is None for record in kept):
            return rewrite_batch(header, kept, delete_horizon_ms=self._new_horizon_ms)
        if len(kept) == header.records_count:
            return view
        return rewrite_batch(header, kept, delete_horizon_ms=horizon_ms)

    def _stays(self, record: Record, expired: bool) -> bool:
        """Records without a key are from before the topic was compacted, and go."""
        if record.key is None or record.offset < self._latest.get(record.key, -1):
            return False
        return record.value is not None or not expired


def _records(batch: RecordBatch, aborted: Aborted) -> list[Record] | None:
    """None for what is not looked into: control batches, and batches whose codec is not installed. What is aborted has no records."""
    if batch.header.is_control:
        return None
    if batch.header in aborted:
        return []
    try:
        return list(batch.records())
    except UnsupportedCompression:
        return None
