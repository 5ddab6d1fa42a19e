"""Runs many rounds in several processes and prints each kind of violation once, with few steps that lead to it."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from odradek.protocol.messages import APIS

from .batches import Batches
from .rounds import Found, Outcome, Round, minimized, setting_of, text_of, warm_up

MAX_SIGNATURES = 10
REPORT_EVERY_S = 30.0

_batches: Batches
"""The batches of this worker process."""


def in_process(seed: int, rounds: Sequence[int], frames: int, processes: int) -> int:
    """Runs rounds, prints the violations and returns the number of different ones."""
    print(f"{len(rounds)} rounds of {frames} frames, seed {seed}, PYTHONHASHSEED {os.environ.get('PYTHONHASHSEED')}", flush=True)
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin, (seed,))
    try:
        return _report(seed, pool.map(partial(_play, seed, frames), rounds, chunksize=4))
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(seed: int) -> None:
    global _batches
    _batches = warm_up(seed)


def _play(seed: int, frames: int, number: int) -> Outcome:
    return Round(seed, number, _batches, frames).run()


def _report(seed: int, outcomes: Iterable[Outcome]) -> int:
    total, started = Total(), time.monotonic()
    reported = started
    for outcome in outcomes:
        total.add(outcome)
        if outcome.found:
            _report_violation(seed, outcome.found, total.signatures)
        if time.monotonic() - reported > REPORT_EVERY_S:
            reported = time.monotonic()
            print(f"{total.frames} frames, {total.frames / (reported - started):.0f} a second", flush=True)
        if len(total.signatures) >= MAX_SIGNATURES:
            break
    print(f"in process: {total.frames} frames, {total.frames / (time.monotonic() - started):.0f} a second, seed {seed}")
    print(f"slowest frame: {total.slowest_ms:.1f} ms of CPU; most memory beyond the allowance for size and objects of a frame:")
    print(f"{total.largest_bytes_beyond_frame} bytes; largest process: {total.rss_kib // 1024} MiB")
    print("answers by API, fewest first:", *(f"{name} {times}," for name, times in reversed(total.answered.most_common())))
    for signature, times in total.signatures.items():
        print(f"{times} times: {signature}")
    return len(total.signatures)


class Total:
    """The results of all rounds."""

    def __init__(self) -> None:
        self.frames = self.largest_bytes_beyond_frame = self.rss_kib = 0
        self.slowest_ms = 0.0
        self.answered: Counter[str] = Counter({api.name: 0 for api in APIS.values()})
        self.signatures: Counter[str] = Counter()

    def add(self, outcome: Outcome) -> None:
        self.frames += outcome.frames
        self.answered.update(outcome.answered)
        self.slowest_ms = max(self.slowest_ms, outcome.slowest_ms)
        self.largest_bytes_beyond_frame = max(self.largest_bytes_beyond_frame, outcome.largest_bytes_beyond_frame)
        self.rss_kib = max(self.rss_kib, outcome.rss_kib)


def _report_violation(seed: int, found: Found, signatures: Counter[str]) -> None:
    if not signatures[found.signature]:
        steps = minimized(setting_of(found.number), found)
        print(f"\n{found.details}\nround {found.number} of seed {seed}, {setting_of(found.number)}:\n{text_of(steps)}", flush=True)
    signatures[found.signature] += 1
