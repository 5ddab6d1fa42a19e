from __future__ import annotations

from array import array
from pathlib import Path

import pytest

from odradek.storage.directories import names
from odradek.storage.directories.index_files import (
    OffsetIndex,
    TimeIndex,
    offset_index_bytes,
    read_offset_index,
    read_time_index,
    read_transaction_index,
    time_index_bytes,
    transaction_index_bytes,
)
from odradek.storage.directories.names import DamagedFile
from odradek.storage.transaction_index import EndedTransaction
from tests.storage.directories.recorded_directories import unpack

ABORTED = [EndedTransaction(7, 3, 9, 10, committed=False), EndedTransaction(8, 4, 12, 13, committed=False)]


def test_offset_index_is_read_as_written(tmp_path: Path) -> None:
    index = OffsetIndex(array("q", [1004, 1010]), array("I", [4200, 9000]))
    (tmp_path / "file").write_bytes(offset_index_bytes(index, 1000))

    assert read_offset_index(tmp_path / "file", 1000) == index


@pytest.mark.parametrize("offsets", [[0, 6], [4, 9], []])
def test_time_index_is_read_as_written(offsets: list[int], tmp_path: Path) -> None:
    index = TimeIndex(array("q", [5000, 6000][: len(offsets)]), array("q", [1000 + offset for offset in offsets]))
    (tmp_path / "file").write_bytes(time_index_bytes(index, 1000))

    assert read_time_index(tmp_path / "file", 1000) == index


def test_preallocated_zeros_and_later_disorder_are_left_out(tmp_path: Path) -> None:
    index = OffsetIndex(array("q", [4, 10]), array("I", [4200, 9000]))
    (tmp_path / "zeros").write_bytes(offset_index_bytes(index, 0) + bytes(4096) + b"\0")
    (tmp_path / "order").write_bytes(offset_index_bytes(OffsetIndex(array("q", [4, 3]), array("I", [4200, 9000])), 0))

    assert read_offset_index(tmp_path / "zeros", 0) == index
    assert list(read_offset_index(tmp_path / "order", 0).offsets) == [4]


def test_transaction_index_is_read_as_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(transaction_index_bytes(ABORTED))

    assert read_transaction_index(tmp_path / "file") == ABORTED


@pytest.mark.parametrize(
    "content",
    [
        transaction_index_bytes(ABORTED)[:-1],
        transaction_index_bytes(ABORTED[::-1]),
        transaction_index_bytes([ABORTED[0]._replace(first_offset=10)]),
        b"\0\1" + transaction_index_bytes(ABORTED)[2:],
    ],
)
def test_damaged_transaction_index_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)

    with pytest.raises(DamagedFile):
        read_transaction_index(tmp_path / "file")


def test_indexes_of_kafka_are_written_byte_for_byte(tmp_path: Path) -> None:
    directory = unpack("kafka-4.3.1", tmp_path)
    times = [path for path in directory.rglob("*" + names.TIME_INDEX) if path.stat().st_size]
    transactions = [path for path in directory.rglob("*" + names.TRANSACTION_INDEX) if path.stat().st_size]

    assert times
    assert transactions
    for path in times:
        base = names.offset_of(path.name, names.TIME_INDEX)
        assert base is not None
        assert time_index_bytes(read_time_index(path, base), base) == path.read_bytes()
    for path in transactions:
        assert transaction_index_bytes(read_transaction_index(path)) == path.read_bytes()
