"""Rewrites batches so that of each key the last record is left (Kafka's Cleaner). Offsets never change; what is gone leaves gaps.

Not done: transactions. Control batches stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..protocol.compression import UnsupportedCompression
from ..protocol.record_builder import rewrite_batch
from ..protocol.records import Buffer, Record, RecordBatch


def last_offsets(batches: Iterable[memoryview]) -> dict[bytes, int]:
    """The offset of each key's last record."""
    offsets: dict[bytes, int] = {}
    for view in batches:
        for record in _records(RecordBatch(view)) or ():
            if record.key is not None:
                offsets[record.key] = record.offset
    return offsets


class Compactor:
    """One pass over a log at `now_ms`.

    `latest` are the last offsets of the keys that are dirty. The batches that end at one of `kept_ends` stay even if empty: the last
    one of the pass, so that the next offset is known, and the last one of each producer, so that its sequence number is.
    """

    def __init__(self, latest: Mapping[bytes, int], kept_ends: Iterable[int], now_ms: int, delete_retention_ms: int) -> None:
        self._latest = latest
        self._kept_ends = frozenset(kept_ends)
        self._now_ms = now_ms
        self._new_horizon_ms = now_ms + delete_retention_ms

    def rewrite(self, view: memoryview) -> Buffer | None:
        """What is left of a batch: `view` itself, a new one, or None."""
        batch = RecordBatch(view)
        header = batch.header
        records = _records(batch)
        if records is None:
            return view
        horizon_ms = header.delete_horizon_ms
        expired = horizon_ms is not None and horizon_ms <= self._now_ms
        kept = [record for record in records if self._stays(record, expired)]
        if not kept and header.last_offset not in self._kept_ends:
            return None
        if horizon_ms is None and any(record.value is None for record in kept):
            return rewrite_batch(header, kept, delete_horizon_ms=self._new_horizon_ms)
        if len(kept) == len(records):
            return view
        return rewrite_batch(header, kept, delete_horizon_ms=horizon_ms)

    def _stays(self, record: Record, expired: bool) -> bool:
        """Records without a key are from before the topic was compacted, and go."""
        if record.key is None or record.offset < self._latest.get(record.key, -1):
            return False
        return record.value is not None or not expired


def _records(batch: RecordBatch) -> list[Record] | None:
    """None for what is not looked into: control batches, and batches whose codec is not installed."""
    if batch.header.is_control:
        return None
    try:
        return list(batch.records())
    except UnsupportedCompression:
        return None
