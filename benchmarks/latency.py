"""The latency of repeated actions."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import quantiles

from .rows import Figures


def percentiles(name: str, once: Callable[[], None], count: int) -> Figures:
    """Returns percentiles of `count` calls in microseconds; a tenth as many calls before them warm up."""
    times = []
    for i in range(count + count // 10):
        began = time.perf_counter()
        once()
        if i >= count // 10:
            times.append((time.perf_counter() - began) * 1e6)
    hundredths = quantiles(times, n=100)
    return {f"{name}, p50": hundredths[49], f"{name}, p99": hundredths[98]}
