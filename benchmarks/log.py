"""Measures the log: nanoseconds of CPU per call, and resident memory per stored byte.

Run: `PYTHONPATH=.dev python benchmarks/log.py`. Times are the best of several rounds. Each memory figure is measured in a new process.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from struct import pack_into

from odradek.storage.log import Log
from odradek.storage.producers import Producers

ROUNDS = 7
SMALL, LARGE = 168, 1024 * 1024
EVERYTHING = sys.maxsize


def batch(size: int) -> bytearray:
    """Returns bytes with those fields of a batch of one record that the log reads."""
    data = bytearray(size)
    pack_into(">i", data, 8, size - 12)
    pack_into(">q", data, 35, 1_700_000_000_000)
    return data


def filled(size: int, count: int) -> Log:
    log, data = Log(), memoryview(batch(size))
    for _ in range(count):
        log.append(data, 0, owned=False)
    return log


def best(call: Callable[[int], object], count: int) -> float:
    """Returns nanoseconds per call, without the time of an empty loop."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time_ns()
        for i in range(count):
            call(i)
        times.append(time.process_time_ns() - began)
        began = time.process_time_ns()
        for _ in range(count):
            pass
        times[-1] -= time.process_time_ns() - began
    return min(times) / count


def appends(size: int, count: int, *, owned: bool) -> float:
    times = []
    for _ in range(ROUNDS):
        log = Log()
        data = [memoryview(batch(size)) for _ in range(count)] if owned else [memoryview(batch(size))] * count
        began = time.process_time_ns()
        for records in data:
            log.append(records, 0, owned=owned)
        times.append(time.process_time_ns() - began)
    return min(times) / count


def check_sequence() -> float:
    producers = Producers(86_400_000)
    for producer_id in range(100):
        producers.record(producer_id, 0, 0, 0, 0, 0, 0, 0)
    return best(lambda i: producers.check(50, 0, 1, 1, 5), 100_000)


def record_batch() -> float:
    producers = Producers(86_400_000)
    return best(lambda i: producers.record(7, 0, i, i, i, i, 0, 0), 100_000)


def times_ns() -> list[tuple[str, float]]:
    small, large = filled(SMALL, 100_000), filled(LARGE, 64)
    end, last = small.end_offset, small.end_offset - 1
    return [
        ("append 168 B", appends(SMALL, 100_000, owned=False)),
        ("append 16 KiB", appends(16 * 1024, 2000, owned=False)),
        ("append 1 MiB, owned", appends(LARGE, 64, owned=True)),
        ("read the newest batch", best(lambda i: small.read(last, LARGE, end, at_least_one=True), 20_000)),
        ("read at the end: nothing", best(lambda i: small.read(end, LARGE, end, at_least_one=True), 20_000)),
        ("read 1 MiB of 168 B batches", best(lambda i: small.read(i % 90_000, LARGE, end, at_least_one=True), 20_000)),
        ("read 1 MiB up to a boundary in the middle", best(lambda i: small.read(1000, LARGE, 1100 + i % 100, at_least_one=True), 20_000)),
        ("read 50 MiB of 1 MiB batches", best(lambda i: large.read(5, 50 * LARGE, 64, at_least_one=True), 2000)),
        ("available, newest batch", best(lambda i: small.available(last, end), 20_000)),
        ("available, from 20 batches behind", best(lambda i: small.available(end - 20, end), 20_000)),
        ("find_timestamp, the first batch", best(lambda i: small.find_timestamp(1), 5000)),
        ("producers.check, next sequence", check_sequence()),
        ("producers.record", record_batch()),
    ]


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def memory(size: int, count: int) -> None:
    """Prints resident bytes per stored byte, or per log when `size` is 0."""
    before = resident_bytes()
    if not size:
        logs = [Log() for _ in range(count)]
        print(f"{(resident_bytes() - before) / len(logs):.0f} B per empty log")
        return
    log = Log()
    for _ in range(count):
        log.append(memoryview(batch(size)), 0, owned=True)
    print(f"{(resident_bytes() - before) / log.size:.3f} B per byte, {log.size / 1e6:.0f} MB")


def main() -> None:
    if len(sys.argv) > 1:
        memory(int(sys.argv[1]), int(sys.argv[2]))
        return
    for name, nanoseconds in times_ns():
        print(f"{name:<45}{nanoseconds:>12,.0f} ns")
    for size, count in ((0, 10_000), (SMALL, 1000), (SMALL, 1_000_000), (16 * 1024, 10_000), (40 * 1024, 5000), (LARGE, 300)):
        command = [sys.executable, __file__, str(size), str(count)]
        print(f"{count:>9,} x {size:>9,} B:  {subprocess.run(command, capture_output=True, text=True, check=True).stdout}", end="")


if __name__ == "__main__":
    main()
