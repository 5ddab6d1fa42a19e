"""A short run of `make soak`, and tests of its memory check."""

from __future__ import annotations

import gc
import logging
from random import SystemRandom

import pytest

from tests.soak.run import FEWEST_SAMPLES, grown, soak

DURATION_S = 6.0


@pytest.mark.clients
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # clients do not close sockets of failed connections
def test_soak_of_seconds_has_no_violation(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)  # clients log a warning for each node that stops
    seed = SystemRandom().getrandbits(32)
    report = soak(DURATION_S, seed)
    gc.collect()  # collects unclosed sockets while the filter of this test ignores the warnings
    assert report.violations == [], f"make soak MINUTES={DURATION_S / 60} SEED={seed}"
    assert report.failures
    assert report.read > report.written > 100


@pytest.mark.parametrize(("last_mib", "found"), [(50.0, False), (58.0, False), (70.0, True)])
def test_grown_reports_memory_above_the_limit(last_mib: float, found: bool) -> None:
    """The first quarter is ignored, because logs grow to their retention in it."""
    quarter = FEWEST_SAMPLES // 4
    samples = [10.0] * quarter + [50.0] * 2 * quarter + [last_mib] * quarter
    assert bool(grown(samples)) is found
    assert grown(samples[1:]) == []
