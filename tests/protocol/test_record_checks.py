"""All ways to read records find the same, whatever the records are."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.errors import ErrorCode
from odradek.protocol.record_builder import build_batch
from odradek.protocol.record_checks import RecordRules, RejectedRecords, UnreadableRecords, check_records, checks, templates
from odradek.protocol.records import HEADER, BatchHeader, InvalidRecords, Record, read_header

START_MS = 1_700_000_000_000
NOTHING = RecordRules()


def outcome(payload: bytes, header: BatchHeader, rules: RecordRules, lenient: bool) -> object:
    """What is found, or what is raised."""
    try:
        return check_records(payload, header, rules, lenient=lenient)
    except RejectedRecords as error:
        return error.error_code, [number for number, _ in error.record_errors]
    except InvalidRecords:
        return InvalidRecords
    except UnreadableRecords:
        return UnreadableRecords


def by_both_ways(payload: bytes, header: BatchHeader, rules: RecordRules = NOTHING, lenient: bool = False) -> object:
    found = outcome(payload, header, rules, lenient)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "SHORTEST_RUN", 1 << 31)
        patch.setattr(checks, "matches_template", lambda *_: False)
        singly = outcome(payload, header, rules, lenient)
    if not lenient and isinstance(found, tuple) and isinstance(singly, tuple) and isinstance(found[1], bool):
        found, singly = found[0], singly[0]
    assert found == singly
    return found


def split(batch: bytes | bytearray) -> tuple[bytes, BatchHeader]:
    return bytes(batch[HEADER.size :]), read_header(batch)


def alike(count: int, size: int = 20, span_ms: int = 0, **fields: Any) -> list[Record]:
    return [Record(n, START_MS + n * span_ms // count, fields.get("key"), bytes(size), fields.get("headers", [])) for n in range(count)]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("span_ms", [0, 60, 70, 9000, 200_000])
@pytest.mark.parametrize("count", [1, 5, 6, 63, 64, 65, 70, 9000, 20_000])
def test_records_alike(count: int, span_ms: int, lenient: bool) -> None:
    batch = build_batch(alike(count, span_ms=span_ms))
    found = by_both_ways(*split(batch), lenient=lenient)
    last = START_MS + (count - 1) * span_ms // count
    assert found == ((last, True) if lenient else last)


@pytest.mark.parametrize("records", [alike(50, key=b"k"), alike(50, headers=[("a", b"b"), ("c", None)]), alike(50, size=300)])
def test_shapes(records: list[Record]) -> None:
    assert by_both_ways(*split(build_batch(records))) == START_MS


@pytest.mark.parametrize(
    "deltas", [[9, 8, 7, 6, 5, 4, 3, 2, 1], [0] * 5 + [-70] * 9, [5, 80] * 9, [0] * 9 + [8191] * 9 + [70] * 9, [0] * 12 + [190, 70] * 8]
)
def test_the_latest_timestamp_need_not_be_the_last(deltas: list[int]) -> None:
    batch = build_batch([Record(n, START_MS + delta, None, b"", []) for n, delta in enumerate(deltas)])
    assert by_both_ways(*split(batch)) == START_MS + max(deltas)


@pytest.mark.parametrize("max_timestamp", [0, START_MS + 10, START_MS + 5000, START_MS + 100_000])
def test_a_header_may_lie_about_it(max_timestamp: int) -> None:
    payload, header = split(build_batch(alike(200, span_ms=150)))
    assert by_both_ways(payload, header._replace(max_timestamp=max_timestamp)) == START_MS + 149


def test_offsets_that_are_not_consecutive() -> None:
    for gap_at in (1, 50, 130):
        batch = build_batch([Record(n + (n >= gap_at), START_MS, None, b"", []) for n in range(140)])
        payload, header = split(batch)
        assert by_both_ways(payload, header, lenient=True) == (START_MS, False)


def test_what_topics_demand() -> None:
    keyless = [record._replace(key=b"k" if n % 7 else None) for n, record in enumerate(alike(30))]
    assert by_both_ways(*split(build_batch(keyless)), RecordRules(keys=True)) == (ErrorCode.INVALID_RECORD, [0, 7, 14, 21, 28])
    late = split(build_batch(alike(30, span_ms=30)))
    assert by_both_ways(*late, RecordRules(latest=START_MS + 25)) == (ErrorCode.INVALID_TIMESTAMP, [26, 27, 28, 29])
    assert by_both_ways(*late, RecordRules(earliest=START_MS + 2)) == (ErrorCode.INVALID_TIMESTAMP, [0, 1])
    both = [record._replace(key=b"k" if n else None) for n, record in enumerate(alike(30, span_ms=30))]
    assert by_both_ways(*split(build_batch(both)), RecordRules(keys=True, latest=START_MS + 28)) == (ErrorCode.INVALID_TIMESTAMP, [0, 29])
    assert by_both_ways(*split(build_batch(alike(9), timestamp_type=1)), RecordRules(create_time=False)) == (
        ErrorCode.INVALID_TIMESTAMP,
        list(range(9)),
    )


def varied(count: int) -> list[Record]:
    """Records that make no runs."""
    random_, headers = random.Random(count), [[], [], [("h", None)], [("a", b"b"), ("", b"")]]
    times = [START_MS + random_.choice([0, n, 100 * n, -5]) for n in range(count)]
    keys = [random_.choice([None, b"key", bytes(80)]) for _ in range(count)]
    return [Record(n, times[n], keys[n], bytes(random_.choice([0, 9, 63, 64, 9000])), random_.choice(headers)) for n in range(count)]


@pytest.mark.parametrize("lenient", [False, True])
def test_varied_records(lenient: bool) -> None:
    records = varied(9000)
    last = max(record.timestamp for record in records)
    payload, header = split(build_batch(records))
    assert by_both_ways(payload, header, lenient=lenient) == ((last, True) if lenient else last)
    assert by_both_ways(payload + b"\0", header, lenient=lenient) is InvalidRecords
    assert by_both_ways(payload[:-1], header, lenient=lenient) is InvalidRecords
    assert by_both_ways(payload, header, RecordRules(latest=last - 1), lenient) == (
        ErrorCode.INVALID_TIMESTAMP,
        [times_of(records).index(last)],
    )


def times_of(records: list[Record]) -> list[int]:
    return [record.timestamp for record in records]


@given(st.data())
def test_broken_records(data: st.DataObject) -> None:
    """Some bytes of good records are changed, left out or doubled."""
    random_ = random.Random(data.draw(st.integers(0, 1 << 32)))
    records = [
        Record(n, START_MS + random_.choice([0, n, 100 * n]), random_.choice([None, b"key"]), bytes(random_.choice([3, 3, 3, 70])), [])
        for n in range(random_.choice([3, 20, 100, 300]))
    ]
    if random_.random() < 0.3:
        records = varied(200)
    elif random_.random() < 0.5:
        records = alike(len(records), span_ms=random_.choice([0, 300]), headers=random_.choice([[], [("h", b"v")]]))
    payload, header = split(build_batch(records))
    for _ in range(20):
        at, broken = random_.randrange(len(payload)), bytearray(payload)
        broken[at : at + random_.choice([0, 1, 1, 1, 2])] = random_.randbytes(random_.choice([0, 1, 1, 1, 2]))
        rules = random_.choice([RecordRules(), RecordRules(keys=True), RecordRules(latest=START_MS + 50), RecordRules(create_time=False)])
        by_both_ways(bytes(broken), header, rules, random_.random() < 0.5)


@given(st.integers(0, 1 << 32))
def test_single_records_of_the_sizes_of_others(seed: int) -> None:
    """Good ones and broken ones, with what topics demand."""
    random_ = random.Random(seed)
    for _ in range(30):
        key, headers = random_.choice([None, b"", b"k", b"key"]), random_.choice([[], [], [("h", b"v")], [("h", None)] * 70])
        record = Record(random_.choice([0, 0, 5]), random_.choice([START_MS, START_MS, -1]), key, bytes(random_.randrange(4)), headers)
        payload, header = split(build_batch([record], timestamp_type=random_.choice([0, 0, 0, 1])))
        if random_.random() < 0.3:
            at = random_.randrange(len(payload))
            payload = replaced(payload, at, random_.randbytes(1))[: random_.choice([None, None, at])]
        bounds = random_.choice([{}, {}, {"latest": START_MS - 1}, {"earliest": START_MS}])
        rules = RecordRules(keys=random_.random() < 0.3, create_time=random_.random() < 0.8, **bounds)
        by_both_ways(payload, header, rules, random_.random() < 0.5)


def test_only_so_many_sizes_of_single_records_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "MOST_TEMPLATES", 3)
    monkeypatch.setattr(templates, "_templates", {})
    for size in range(10):
        assert by_both_ways(*split(build_batch(alike(1, size)))) == START_MS
        assert len(templates._templates) <= 3


def test_no_timestamp_is_within_all_bounds() -> None:
    batch = build_batch([Record(n, -1, None, b"", []) for n in range(20)])
    assert by_both_ways(*split(batch), RecordRules(earliest=START_MS)) == -1


def test_a_size_of_endless_bytes() -> None:
    header = split(build_batch(alike(1)))[1]
    assert by_both_ways(b"\xff" * 9, header) is UnreadableRecords
    assert by_both_ways(b"\xff" * 9, header._replace(attributes=1), lenient=True) is InvalidRecords


def test_without_numpy_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "odradek.protocol.record_checks.columns", None)
    records = varied(300)
    assert by_both_ways(*split(build_batch(records))) == max(times_of(records))


def replaced(payload: bytes, position: int, value: bytes) -> bytes:
    return payload[:position] + value + payload[position + len(value) :]


@pytest.mark.parametrize(
    "headers",
    [
        b"\x7f",  # a negative number of them
        b"\x7e",  # more than there are bytes
        b"\x02\x01",  # one without a name
    ],
)
@pytest.mark.parametrize("lenient", [False, True])
def test_headers_that_cannot_be(headers: bytes, lenient: bool) -> None:
    """In the first record and in the last one, of records that are alike and of records that are not."""
    for records in (alike(400, size=30, headers=[("h", b"v")]), varied(400)):
        last = records[-1]._replace(headers=[("h", b"v")], value=b"")
        payload, header = split(build_batch([records[0]._replace(headers=[("h", b"v")], value=b""), *records[1:-1], last]))
        for count_at in (payload.index(b"\x02\x02h\x02v"), payload.rindex(b"\x02\x02h\x02v")):
            assert by_both_ways(replaced(payload, count_at, headers), header, lenient=lenient) is InvalidRecords


def test_varied_records_of_bytes_that_are_none() -> None:
    payload, header = split(build_batch(varied(400)))
    at = len(payload) // 2
    for broken in (replaced(payload, at, b"\xff" * 12), payload[:at], replaced(payload, len(payload) - 30, b"\xff" * 30)):
        by_both_ways(broken, header)
        by_both_ways(broken, header, lenient=True)


def test_columns_refuse_what_is_unusual() -> None:
    from odradek.protocol.record_checks.columns import Irregular, read_columns

    many = [("h", b"v")] * 20
    for payload, count in (
        (split(build_batch([record._replace(headers=many) for record in alike(3)]))[0], 3),
        (b"\x12\0" + b"\xff" * 6 + b"\1\1", 1),  # a varint that does not end
        (b"\xff\xff", 1),
        (b"\x10\0\0\0\1\1\2\1\1", 1),  # a header without a name
        (b"\x0e\0\0\0\1\2x\1", 1),  # -1 headers
    ):
        with pytest.raises(Irregular):
            read_columns(payload, 0, 0, count)
