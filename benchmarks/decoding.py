"""Compares the decoder of the Spark source with kafka-python's: nanoseconds of CPU per record, by the shape of the records.

Run: `PYTHONPATH=.dev python benchmarks/decoding.py`, optionally with the start of a shape's name. Our decoder checks CRCs and builds
the Arrow columns that Spark accepts. kafka-python's decoder reads the key, value, headers, offset and timestamp of each record
without checks. Both decode the same fetch of 8 MiB; the best of several rounds counts. Small fetches are one batch of 100 records, as a
trigger of a stream finds them.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from typing import NamedTuple

import pyarrow as pa
from kafka.record import MemoryRecords

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.spark_sink.batches import Batches
from odradek.spark_sink.decoder import COLUMN_TYPES, Decoder

FETCH_BYTES = 8 << 20
ROUNDS, THEIR_ROUNDS = 7, 2
DIFFERENT_BATCHES = 12
EVERYTHING = (0, 1 << 62)


class Shape(NamedTuple):
    """Records with values between two sizes in bytes; `records` of them make a batch."""

    name: str
    sizes: tuple[int, int]
    records: int
    key: int = 0
    headers: int = 0
    compression: Compression = Compression.NONE
    fetch_bytes: int = FETCH_BYTES


SHAPES = (
    Shape("100 B, 150 a batch", (100, 100), 150),
    Shape("100 B, 10,000 a batch", (100, 100), 10_000),
    Shape("20-180 B, 150 a batch", (20, 180), 150),
    Shape("20-180 B, 10,000 a batch", (20, 180), 10_000),
    Shape("20-180 B + key, 130 a batch", (20, 180), 130, key=12),
    Shape("20-180 B + key + 2 headers, 100 a batch", (20, 180), 100, key=12, headers=2),
    Shape("1 KiB, 16 a batch", (1024, 1024), 16),
    Shape("100 B, lz4", (100, 100), 150, compression=Compression.LZ4),
    Shape("100 B, zstd", (100, 100), 150, compression=Compression.ZSTD),
    Shape("100 B, a fetch of 100", (100, 100), 100, fetch_bytes=1),
    Shape("20-180 B + key + 2 headers, a fetch of 100", (20, 180), 100, key=12, headers=2, fetch_bytes=1),
)


def fetch_of(shape: Shape) -> tuple[memoryview, int]:
    """Returns (the bytes of a fetch as a broker sends them, the number of their records)."""
    generator = random.Random(shape.name)
    different = [_batch(shape, generator) for _ in range(DIFFERENT_BATCHES if shape.records < 1000 else 2)]
    fetched, offset = bytearray(), 0
    for batch in cycle(different):
        fetched += offset.to_bytes(8, "big") + batch[8:]
        offset += shape.records
        if len(fetched) >= shape.fetch_bytes:
            break
    return memoryview(fetched), offset


def _batch(shape: Shape, generator: random.Random) -> bytearray:
    words = [generator.randbytes(8) for _ in range(200)]

    def value() -> bytes:
        size = generator.randint(*shape.sizes)
        return b"".join(generator.choices(words, k=size // 8 + 1))[:size]

    records = [
        Record(
            number,
            1_700_000_000_000 + number // 3,
            b"%0*d" % (shape.key, number) if shape.key else None,
            value(),
            [(f"header-{header}", b"%d" % number) for header in range(shape.headers)],
        )
        for number in range(shape.records)
    ]
    return build_batch(records, compression=shape.compression)


def ours(fetched: memoryview, decoder: Decoder) -> int:
    batches = Batches.of(fetched)
    batches.check_crcs()
    return sum(rows.num_rows for rows in decoder.decode(batches, *EVERYTHING))


def theirs(fetched: memoryview) -> int:
    count, records = 0, MemoryRecords(bytes(fetched))
    while (batch := records.next_batch()) is not None:
        for record in batch:
            _ = record.key, record.value, record.headers, record.offset, record.timestamp
            count += 1
    return count


def cpu_ns(decode: Callable[[], int], count: int) -> float:
    """Returns the CPU time of one record, averaged over at least 20 ms."""
    began, done = time.process_time_ns(), 0
    while (spent := time.process_time_ns() - began) < 20_000_000:
        assert decode() == count
        done += count
    return spent / done


def main() -> None:
    print(f"{'ns of CPU per record':<46}{'ours':>8}{'kafka-python':>14}{'ratio':>8}")
    for shape in SHAPES:
        if not shape.name.startswith(tuple(sys.argv[1:]) or ""):
            continue
        fetched, count = fetch_of(shape)
        schema = pa.schema([(name, COLUMN_TYPES[name]) for name in COLUMN_TYPES if shape.headers or name != "headers"])
        best = min(cpu_ns(partial(ours, fetched, Decoder(schema, "topic", 0)), count) for _ in range(ROUNDS))
        their_best = min(cpu_ns(partial(theirs, fetched), count) for _ in range(THEIR_ROUNDS))
        print(f"{shape.name:<46}{best:>8.0f}{their_best:>14.0f}{their_best / best:>8.1f}")


if __name__ == "__main__":
    main()
