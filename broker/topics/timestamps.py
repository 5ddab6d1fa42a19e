"""Finds the first record of a log from a time on."""

from __future__ import annotations

from ...protocol.batches.records import RecordBatch
from ...storage.log import Log

NOT_FOUND = (-1, -1)


def first_at(log: Log, timestamp: int) -> tuple[int, int]:
    """Returns (timestamp, offset) of the first record at or after `timestamp`, or NOT_FOUND if there is none.

    Several batches may have to be read, because compaction or DeleteRecords may have removed the record that gave a batch its maximum
    timestamp.
    """
    view = log.find_timestamp(timestamp, log.start_offset)
    while view is not None:
        batch = RecordBatch(view)
        for record in batch.records():
            if record.timestamp >= timestamp and record.offset >= log.start_offset:
                return record.timestamp, record.offset
        view = log.find_timestamp(timestamp, batch.header.last_offset + 1)
    return NOT_FOUND
