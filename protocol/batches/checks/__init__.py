"""Checks the records of a batch before a broker appends them (Kafka's DefaultRecord and LogValidator).

Kafka parses every record of every batch that a producer sends: a malformed record is answered with INVALID_RECORD, and a record that
breaks a rule of its topic (no key in a compacted topic, a timestamp out of bounds) with an error text per record. Parsing each record
in Python would take most of the time of an append. So there are four paths. All of them check every record and come to the same
verdict; they differ in speed and in the batches that they can decide.

A record is a sequence of zigzag varints and bytes:

    size, attributes, timestamp delta, offset delta, key length, key, value length, value, header count, headers

Its *structural bytes* are all but those of key, value and header contents. A record is well formed if the structural bytes fit
together and end where the size says. The fast paths are based on this consequence: two records with the same structural bytes at the same
positions are both well formed or both malformed, so one of them has to be parsed.

`checks.py` tries the paths in this order:

1. *Template* (`templates.py`), for a batch of one record. The structural bytes of the first record of each payload size are kept,
   and later ones of that size are compared with them by one `itemgetter`. Any difference leads to path 4.
2. *Run* (`runs.py`), for ten or more successive records of one shape. Their structural bytes are at equal distances, so that a
   slice with a stride collects one byte of all of them, and `bytes.count` compares them in one operation.
3. *Columns* (`columns.py`), for 256 or more records that make no runs, where numpy is installed. The fields of all records are read
   in lockstep: first all sizes, then all timestamp deltas, and so on. This path reads a batch to its end or not at all. It is taken once
   enough records have come for the import of numpy to pay, because most tests produce fewer.
4. *Sequential* (`scan.py`), which reads the remaining records one by one. Only this path determines errors, because the others return
   without a verdict when they meet a record that may be invalid, and leave it to this one.

Paths 2 to 4 advance one `RecordScan`, so that a batch can be read in turn by several of them: a run, a few records one by one, the
next run. Each unsuccessful search for a run doubles the distance to the next search.

Timestamps in a run are compared with the maximum in the batch header instead of being decoded. This shows that none exceeds the maximum,
but not always which one is the latest. If no record is found that reaches the header's maximum, the batch is read again sequentially.

`rules.py` contains the rules of the topic and the errors. tests/protocol/batches/test_checks.py compares the paths with each other.
"""

from __future__ import annotations

from .checks import check_records
from .rules import MAX_LONG, NO_TIMESTAMP, RecordRules, RejectedRecords, UnreadableRecords

__all__ = ["MAX_LONG", "NO_TIMESTAMP", "RecordRules", "RejectedRecords", "UnreadableRecords", "check_records"]
