"""Reads damaged files of log directories: cut, flipped, and with lying lengths. Readers may raise `DamagedFile` and OSError only.

`python -m tests.storage.directories.damage_run 100000 SEED` damages so many files; the suite does the same with few.
"""

from __future__ import annotations

import sys
import tempfile
import tracemalloc
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from random import Random

from odradek.protocol.batches.records import RecordBatch
from odradek.protocol.schema import ProtocolError
from odradek.storage.directories import names
from odradek.storage.directories.index_files import read_offset_index, read_time_index, read_transaction_index
from odradek.storage.directories.metadata_log import read_records
from odradek.storage.directories.names import DamagedFile
from odradek.storage.directories.producer_snapshot import read_producer_snapshot
from odradek.storage.directories.stored_log import read_log
from odradek.storage.directories.text_files import read_epochs, read_meta_properties, read_offsets, read_topic_id
from tests.storage.directories.recorded_directories import NAMES, unpack

MORE_MEMORY = 30
MAX_BYTES = 2 * 1024 * 1024
"""The memory that reading a file may take: MORE_MEMORY times its size, because small batches become objects, and MAX_BYTES."""


def _read_segment(path: Path) -> None:
    log = read_log(path.parent, 0, 0)
    for batch in log.batches_from(log.start_offset):
        with suppress(ProtocolError):
            deque(RecordBatch(batch).records(1 << 20), maxlen=0)


def _read_metadata(path: Path) -> None:
    deque(read_records(path), maxlen=0)


READERS: Mapping[str, Callable[[Path], object]] = {
    names.LOG: _read_segment,
    names.INDEX: lambda path: read_offset_index(path, 0),
    names.TIME_INDEX: lambda path: read_time_index(path, 0),
    names.TRANSACTION_INDEX: read_transaction_index,
    names.PRODUCERS: read_producer_snapshot,
    names.EPOCHS: read_epochs,
    names.PARTITION_METADATA: read_topic_id,
    names.META_PROPERTIES: read_meta_properties,
    names.RECOVERY_POINTS: read_offsets,
    names.HIGH_WATERMARKS: read_offsets,
    names.BOOTSTRAP: _read_metadata,
    ".checkpoint": _read_metadata,
}


def reader_of(path: Path) -> Callable[[Path], object] | None:
    """Returns the function that reads a file of this name, None if it has none."""
    if path.parent.name == names.METADATA_FOLDER and path.suffix == names.LOG:
        return _read_metadata
    return READERS.get(path.name) or READERS.get(path.suffix)


def _read(path: Path) -> None:
    read = reader_of(path)
    assert read is not None
    with suppress(DamagedFile, OSError):
        read(path)


def damaged(content: bytes, random: Random) -> bytes:
    """Returns damaged contents of a file."""
    changed = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 3))):
        position = random.randrange(len(changed) + 1)
        match random.randrange(5):
            case 0:
                del changed[position:]
            case 1:
                changed[position : position + 1] = bytes([random.randrange(256)])
            case 2:
                changed[position : position + 4] = random.choice((b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", bytes(4)))
            case 3:
                changed += bytes(random.randrange(64))
            case _:
                changed[position:position] = changed[position : position + random.randrange(100)]
    return bytes(changed)


def run(count: int, seed: int, folder: Path) -> None:
    """Damages `count` files. Raises what a reader raises wrongly, and AssertionError if it takes too much memory."""
    random = Random(seed)
    paths = [path for name in NAMES for path in sorted(unpack(name, folder).rglob("*")) if path.is_file() and reader_of(path) is not None]
    contents = {path: path.read_bytes() for path in paths}
    for path in paths:  # so that modules are imported before memory is measured
        _read(path)
    tracemalloc.start()
    try:
        for number in range(count):
            path = random.choice(paths)
            path.write_bytes(changed := damaged(contents[path], random))
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            try:
                _read(path)
                _, peak = tracemalloc.get_traced_memory()
                assert peak - before < MORE_MEMORY * len(changed) + MAX_BYTES, f"{peak - before} bytes for a file of {len(changed)}"
            except BaseException:
                print(f"seed {seed}, file {number}: {path}")  # noqa: T201
                raise
            path.write_bytes(contents[path])
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        run(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else Random().randrange(2**32), Path(place))
    print(f"{sys.argv[1]} damaged files")  # noqa: T201
