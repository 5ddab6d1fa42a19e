"""The short form of `make soak`."""

from __future__ import annotations

import logging
from random import SystemRandom

import pytest

from tests.soak.soaking import FEWEST_SAMPLES, grown, soak

DURATION_S = 6.0


@pytest.mark.clients
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # clients forget to close sockets that found no node
def test_a_short_soak_loses_nothing(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)  # clients warn of each node that stops
    seed = SystemRandom().getrandbits(32)
    report = soak(DURATION_S, seed)
    assert report.violations == [], f"make soak MINUTES={DURATION_S / 60} SEED={seed}"
    assert report.stops
    assert report.read > report.written > 100


@pytest.mark.parametrize(("last_mib", "found"), [(50.0, False), (58.0, False), (70.0, True)])
def test_memory_that_grows_is_found(last_mib: float, found: bool) -> None:
    """The first quarter, in which logs grow to their retention, does not count."""
    quarter = FEWEST_SAMPLES // 4
    samples = [10.0] * quarter + [50.0] * 2 * quarter + [last_mib] * quarter
    assert bool(grown(samples)) is found
    assert grown(samples[1:]) == []
