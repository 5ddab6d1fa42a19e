"""The paths on which records are checked agree: each test compares the fast paths with the sequential one."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.batches import checks as record_checks
from odradek.protocol.batches.checks import RecordRules, RejectedRecords, UnreadableRecords, check_records, checks, templates
from odradek.protocol.batches.checks.columns import Irregular, read_columns
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import HEADER, BatchHeader, InvalidRecords, Record, read_header
from odradek.protocol.errors import ErrorCode

START_MS = 1_700_000_000_000
NO_RULES = RecordRules()


def outcome(payload: bytes, header: BatchHeader, rules: RecordRules, lenient: bool) -> object:
    """Returns the result, or what stands for the exception."""
    try:
        return check_records(payload, header, rules, lenient=lenient)
    except RejectedRecords as error:
        return error.error_code, [number for number, _ in error.record_errors]
    except InvalidRecords:
        return InvalidRecords
    except UnreadableRecords:
        return UnreadableRecords


def checked_on_all_paths(payload: bytes, header: BatchHeader, rules: RecordRules = NO_RULES, lenient: bool = False) -> object:
    found = outcome(payload, header, rules, lenient)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "MIN_RUN", 1 << 31)
        patch.setattr(checks, "matches_template", lambda *_: False)
        singly = outcome(payload, header, rules, lenient)
    if not lenient and isinstance(found, tuple) and isinstance(singly, tuple) and isinstance(found[1], bool):
        found, singly = found[0], singly[0]
    assert found == singly
    return found


def split(batch: bytes | bytearray) -> tuple[bytes, BatchHeader]:
    return bytes(batch[HEADER.size :]), read_header(batch)


def uniform(count: int, size: int = 20, span_ms: int = 0, **fields: Any) -> list[Record]:
    return [Record(n, START_MS + n * span_ms // count, fields.get("key"), bytes(size), fields.get("headers", [])) for n in range(count)]


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("span_ms", [0, 60, 70, 9000, 200_000])
@pytest.mark.parametrize("count", [1, 5, 6, 63, 64, 65, 70, 9000, 20_000])
def test_check_uniform_records_finds_latest_timestamp(count: int, span_ms: int, lenient: bool) -> None:
    batch = build_batch(uniform(count, span_ms=span_ms))
    found = checked_on_all_paths(*split(batch), lenient=lenient)
    last = START_MS + (count - 1) * span_ms // count
    assert found == ((last, True) if lenient else last)


@pytest.mark.parametrize("records", [uniform(50, key=b"k"), uniform(50, headers=[("a", b"b"), ("c", None)]), uniform(50, size=300)])
def test_check_record_shapes_are_accepted(records: list[Record]) -> None:
    assert checked_on_all_paths(*split(build_batch(records))) == START_MS


@pytest.mark.parametrize(
    "deltas", [[9, 8, 7, 6, 5, 4, 3, 2, 1], [0] * 5 + [-70] * 9, [5, 80] * 9, [0] * 9 + [8191] * 9 + [70] * 9, [0] * 12 + [190, 70] * 8]
)
def test_check_unsorted_timestamps_finds_the_latest(deltas: list[int]) -> None:
    batch = build_batch([Record(n, START_MS + delta, None, b"", []) for n, delta in enumerate(deltas)])
    assert checked_on_all_paths(*split(batch)) == START_MS + max(deltas)


@pytest.mark.parametrize("max_timestamp", [0, START_MS + 10, START_MS + 5000, START_MS + 100_000])
def test_check_wrong_max_timestamp_in_header_is_ignored(max_timestamp: int) -> None:
    payload, header = split(build_batch(uniform(200, span_ms=150)))
    assert checked_on_all_paths(payload, header._replace(max_timestamp=max_timestamp)) == START_MS + 149


def test_check_offset_gap_is_reported() -> None:
    for gap_at in (1, 50, 130):
        batch = build_batch([Record(n + (n >= gap_at), START_MS, None, b"", []) for n in range(140)])
        payload, header = split(batch)
        assert checked_on_all_paths(payload, header, lenient=True) == (START_MS, False)


def test_check_records_that_break_rules_are_rejected() -> None:
    keyless = [record._replace(key=b"k" if n % 7 else None) for n, record in enumerate(uniform(30))]
    assert checked_on_all_paths(*split(build_batch(keyless)), RecordRules(keys=True)) == (ErrorCode.INVALID_RECORD, [0, 7, 14, 21, 28])
    late = split(build_batch(uniform(30, span_ms=30)))
    assert checked_on_all_paths(*late, RecordRules(latest=START_MS + 25)) == (ErrorCode.INVALID_TIMESTAMP, [26, 27, 28, 29])
    assert checked_on_all_paths(*late, RecordRules(earliest=START_MS + 2)) == (ErrorCode.INVALID_TIMESTAMP, [0, 1])
    both = [record._replace(key=b"k" if n else None) for n, record in enumerate(uniform(30, span_ms=30))]
    assert checked_on_all_paths(*split(build_batch(both)), RecordRules(keys=True, latest=START_MS + 28)) == (
        ErrorCode.INVALID_TIMESTAMP,
        [0, 29],
    )
    assert checked_on_all_paths(*split(build_batch(uniform(9), timestamp_type=1)), RecordRules(create_time=False)) == (
        ErrorCode.INVALID_TIMESTAMP,
        list(range(9)),
    )


def varied(count: int) -> list[Record]:
    """Returns records of different shapes, which make no runs."""
    random_ = random.Random(count)
    headers: list[list[tuple[str, bytes | None]]] = [[], [], [("h", None)], [("a", b"b"), ("", b"")]]
    times = [START_MS + random_.choice([0, n, 100 * n, -5]) for n in range(count)]
    keys = [random_.choice([None, b"key", bytes(80)]) for _ in range(count)]
    return [Record(n, times[n], keys[n], bytes(random_.choice([0, 9, 63, 64, 9000])), random_.choice(headers)) for n in range(count)]


@pytest.mark.parametrize("lenient", [False, True])
def test_check_varied_records_agree(lenient: bool) -> None:
    records = varied(9000)
    last = max(record.timestamp for record in records)
    payload, header = split(build_batch(records))
    assert checked_on_all_paths(payload, header, lenient=lenient) == ((last, True) if lenient else last)
    assert checked_on_all_paths(payload + b"\0", header, lenient=lenient) is InvalidRecords
    assert checked_on_all_paths(payload[:-1], header, lenient=lenient) is InvalidRecords
    assert checked_on_all_paths(payload, header, RecordRules(latest=last - 1), lenient) == (
        ErrorCode.INVALID_TIMESTAMP,
        [times_of(records).index(last)],
    )


def times_of(records: list[Record]) -> list[int]:
    return [record.timestamp for record in records]


@given(st.data())
def test_check_changed_bytes_agree(data: st.DataObject) -> None:
    """Replaces, removes or inserts a few bytes of valid records."""
    random_ = random.Random(data.draw(st.integers(0, 1 << 32)))
    records = [
        Record(n, START_MS + random_.choice([0, n, 100 * n]), random_.choice([None, b"key"]), bytes(random_.choice([3, 3, 3, 70])), [])
        for n in range(random_.choice([3, 20, 100, 300]))
    ]
    if random_.random() < 0.3:
        records = varied(200)
    elif random_.random() < 0.5:
        records = uniform(len(records), span_ms=random_.choice([0, 300]), headers=random_.choice([[], [("h", b"v")]]))
    payload, header = split(build_batch(records))
    for _ in range(20):
        at, broken = random_.randrange(len(payload)), bytearray(payload)
        broken[at : at + random_.choice([0, 1, 1, 1, 2])] = random_.randbytes(random_.choice([0, 1, 1, 1, 2]))
        rules = random_.choice([RecordRules(), RecordRules(keys=True), RecordRules(latest=START_MS + 50), RecordRules(create_time=False)])
        checked_on_all_paths(bytes(broken), header, rules, random_.random() < 0.5)


@given(st.integers(0, 1 << 32))
def test_check_single_records_of_equal_size_agree(seed: int) -> None:
    """Checks valid and damaged records with different rules."""
    random_ = random.Random(seed)
    all_headers: list[list[tuple[str, bytes | None]]] = [[], [], [("h", b"v")], [("h", None)] * 70]
    for _ in range(30):
        key, headers = random_.choice([None, b"", b"k", b"key"]), random_.choice(all_headers)
        record = Record(random_.choice([0, 0, 5]), random_.choice([START_MS, START_MS, -1]), key, bytes(random_.randrange(4)), headers)
        payload, header = split(build_batch([record], timestamp_type=random_.choice([0, 0, 0, 1])))
        if random_.random() < 0.3:
            at = random_.randrange(len(payload))
            payload = replaced(payload, at, random_.randbytes(1))[: random_.choice([None, None, at])]
        bounds = random_.choice([{}, {}, {"latest": START_MS - 1}, {"earliest": START_MS}])
        rules = RecordRules(keys=random_.random() < 0.3, create_time=random_.random() < 0.8, **bounds)
        checked_on_all_paths(payload, header, rules, random_.random() < 0.5)


def test_templates_are_limited_in_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(templates, "MAX_TEMPLATES", 3)
    monkeypatch.setattr(templates, "_templates", {})
    for size in range(10):
        assert checked_on_all_paths(*split(build_batch(uniform(1, size)))) == START_MS
        assert len(templates._templates) <= 3


def test_check_missing_timestamp_is_within_bounds() -> None:
    batch = build_batch([Record(n, -1, None, b"", []) for n in range(20)])
    assert checked_on_all_paths(*split(batch), RecordRules(earliest=START_MS)) == -1


def test_check_endless_size_is_unreadable() -> None:
    header = split(build_batch(uniform(1)))[1]
    assert checked_on_all_paths(b"\xff" * 9, header) is UnreadableRecords
    assert checked_on_all_paths(b"\xff" * 9, header._replace(attributes=1), lenient=True) is InvalidRecords


@pytest.fixture
def without_numpy(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Makes imports of numpy fail, and yields a list to which each attempt is appended."""
    attempts: list[str] = []

    class Missing:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "numpy":
                attempts.append(name)
                raise ModuleNotFoundError(name)

    for module in ("numpy", "odradek.protocol.batches.checks.columns"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.delattr(record_checks, "columns", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    monkeypatch.setattr(checks, "RECORDS_BEFORE_NUMPY", 0)
    checks._columns.cache_clear()
    yield attempts
    checks._columns.cache_clear()


def test_check_without_numpy_agrees(without_numpy: list[str]) -> None:
    records = varied(300)
    assert checked_on_all_paths(*split(build_batch(records))) == max(times_of(records))


def test_check_without_numpy_imports_it_once(without_numpy: list[str]) -> None:
    payload, header = split(build_batch(varied(300)))
    for _ in range(3):
        check_records(payload, header, RecordRules())
    assert without_numpy == ["numpy"]


def test_numpy_is_imported_when_enough_records_have_come(without_numpy: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "RECORDS_BEFORE_NUMPY", 600)
    monkeypatch.setattr(checks, "_without_numpy", 0)
    payload, header = split(build_batch(varied(300)))
    attempts = []
    for _ in range(30):
        assert isinstance(check_records(payload, header, RecordRules()), tuple)
        attempts.append(len(without_numpy))
    assert attempts[0] == 0 and attempts[-1] == 1
    assert attempts.index(1) >= 2


def replaced(payload: bytes, position: int, value: bytes) -> bytes:
    return payload[:position] + value + payload[position + len(value) :]


@pytest.mark.parametrize(
    "headers",
    [
        b"\x7f",  # a negative count
        b"\x7e",  # a count above the number of bytes
        b"\x02\x01",  # a header without a name
    ],
)
@pytest.mark.parametrize("lenient", [False, True])
def test_check_impossible_headers_are_invalid(headers: bytes, lenient: bool) -> None:
    """The headers are those of the first or the last record, in a uniform and in a varied batch."""
    for records in (uniform(400, size=30, headers=[("h", b"v")]), varied(400)):
        last = records[-1]._replace(headers=[("h", b"v")], value=b"")
        payload, header = split(build_batch([records[0]._replace(headers=[("h", b"v")], value=b""), *records[1:-1], last]))
        for count_at in (payload.index(b"\x02\x02h\x02v"), payload.rindex(b"\x02\x02h\x02v")):
            assert checked_on_all_paths(replaced(payload, count_at, headers), header, lenient=lenient) is InvalidRecords


def test_check_varied_records_with_damage_agree() -> None:
    payload, header = split(build_batch(varied(400)))
    at = len(payload) // 2
    for broken in (replaced(payload, at, b"\xff" * 12), payload[:at], replaced(payload, len(payload) - 30, b"\xff" * 30)):
        checked_on_all_paths(broken, header)
        checked_on_all_paths(broken, header, lenient=True)


def test_read_columns_unusual_records_raise_irregular() -> None:
    many: list[tuple[str, bytes | None]] = [("h", b"v")] * 20
    for payload, count in (
        (split(build_batch([record._replace(headers=many) for record in uniform(3)]))[0], 3),
        (b"\x12\0" + b"\xff" * 6 + b"\1\1", 1),  # a varint that does not end
        (b"\xff\xff", 1),
        (b"\x10\0\0\0\1\1\2\1\1", 1),  # a header without a name
        (b"\x0e\0\0\0\1\2x\1", 1),  # -1 headers
    ):
        with pytest.raises(Irregular):
            read_columns(payload, 0, 0, count)
