"""Chooses the path on which the records of a batch are checked, and returns or raises the verdict. See the package for the paths."""

from __future__ import annotations

import sys
from functools import cache
from types import ModuleType

from ..records import TIMESTAMP_TYPE_BIT, BatchHeader, Buffer, InvalidRecords
from .rules import RecordRules, RejectedRecords
from .runs import MIN_RUN, read_run
from .scan import RecordScan
from .templates import matches_template

MIN_IN_COLUMNS = 256
RECORDS_BEFORE_NUMPY = 50_000
"""With numpy, a record takes a microsecond less, and the import of numpy takes 50 ms and 13 MiB."""
COPIED_BELOW = 512
"""With fewer bytes per record, copying the payload once saves time, because `bytes` are sliced faster than a memoryview."""


def check_records(data: Buffer, header: BatchHeader, rules: RecordRules, start: int = 0, lenient: bool = False) -> tuple[int, bool]:
    """Checks all records of an uncompressed payload, which fills `data` from `start` on.

    Returns (their latest timestamp in ms, -1 if none has one; whether their offset deltas are 0, 1, 2 and so on). The second value
    is exact only with `lenient`, which reads as Kafka does for a compressed batch that it stores unchanged: it skips over the
    fields and does not compare the size of a record with the sizes of its fields (DefaultRecord.readPartiallyFrom).

    Raises InvalidRecords or UnreadableRecords for malformed records, RejectedRecords for those that break the rules.
    """
    count = header.records_count
    if count == 1 and matches_template(data, header, rules, start):
        return header.base_timestamp, True
    if count >= MIN_RUN and not header.attributes & TIMESTAMP_TYPE_BIT:
        if len(data) < COPIED_BELOW * count:
            data = bytes(data)
        scan = RecordScan(data, header, rules, lenient, start)
        _read_in_runs(scan)
        found = _verdict(scan)
        # No timestamp of a run is above the header's, so that `latest` cannot be too low if it is the header's.
        if scan.latest_is_exact or scan.latest == header.max_timestamp:
            return found
    scan = RecordScan(data, header, rules, lenient, start)
    scan.read_one_by_one(count)
    return _verdict(scan)


def _verdict(scan: RecordScan) -> tuple[int, bool]:
    if scan.position != len(scan.data):
        raise InvalidRecords(f"{len(scan.data) - scan.position} bytes after the last record")
    if scan.errors:
        raise RejectedRecords(scan.errors)
    return scan.latest, scan.consecutive


def _read_in_runs(scan: RecordScan) -> None:
    """Reads to the end of the payload: each run as a whole, and the records between runs one by one.

    Each failed search for a run doubles the number of records that are read before the next search, so that searching takes little
    of the time where there are no runs.
    """
    count, between = scan.header.records_count, MIN_RUN
    while count - scan.index >= MIN_RUN:
        if read_run(scan):
            between = MIN_RUN
        elif between > MIN_RUN and count - scan.index >= MIN_IN_COLUMNS and _numpy_pays(between) and _read_in_columns(scan):
            return
        else:
            scan.read_one_by_one(min(count, scan.index + between))
            between *= 2
    scan.read_one_by_one(count)


_without_numpy = 0
"""How many records were read one by one because numpy had not been imported."""


def _numpy_pays(records: int) -> bool:
    """Returns whether numpy is imported, or its import pays by now. Otherwise, `records` are read without it."""
    global _without_numpy
    if "numpy" in sys.modules or _without_numpy >= RECORDS_BEFORE_NUMPY:
        return True
    _without_numpy += records
    return False


def _read_in_columns(scan: RecordScan) -> bool:
    """Reads to the end with numpy. Returns False, and reads nothing, without numpy or if a record may be invalid or rejected."""
    columns = _columns()
    if columns is None:
        return False
    index, count, base, rules = scan.index, scan.header.records_count, scan.header.base_timestamp, scan.rules
    try:
        found = columns.read_columns(scan.data, scan.position, index, count - index)
    except columns.Irregular:
        return False
    if (found.key_missing and rules.keys) or base + found.earliest < rules.earliest or base + found.latest > rules.latest:
        return False
    scan.latest = max(scan.latest, base + found.latest)
    scan.consecutive = scan.consecutive and found.consecutive
    scan.index, scan.position = count, len(scan.data)
    return True


@cache
def _columns() -> ModuleType | None:
    """Returns the module `columns`, or None without numpy. Python would repeat a failed import for each batch, which takes milliseconds."""
    try:
        from . import columns
    except ImportError:
        return None
    return columns
