"""A short run of `make churn`, and tests of its checks."""

from __future__ import annotations

import gc
import logging
from random import SystemRandom

import pytest

from tests.churn.run import MAX_GROWTH_MIB, WARM_UP_S, churn, grown

DURATION_S = 6.0


@pytest.mark.clients
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # clients do not close sockets of failed connections
def test_churn_of_seconds_has_no_violation(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)  # clients log a warning for each connection that ends
    seed = SystemRandom().getrandbits(32)
    report = churn(DURATION_S, seed)
    gc.collect()  # collects unclosed sockets while the filter of this test ignores the warnings
    assert report.violations == [], f"make churn MINUTES={DURATION_S / 60} SEED={seed}"
    assert report.rounds == sum(report.changes.values())
    assert report.written == report.rounds * 50


@pytest.mark.parametrize(("last_mib", "found"), [(50.0, False), (50.0 + MAX_GROWTH_MIB, False), (51.0 + MAX_GROWTH_MIB, True)])
def test_grown_compares_with_the_end_of_the_warm_up(last_mib: float, found: bool) -> None:
    samples = [(1.0, 10.0), (WARM_UP_S, 50.0), (WARM_UP_S + 1, last_mib)]
    assert bool(grown(samples)) is found
    assert grown(samples[:1]) == []
