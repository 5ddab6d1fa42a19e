"""Hypothesis: few examples by default, many with ODRADEK_HYPOTHESIS=long; every run prints its seed."""

from __future__ import annotations

import os
import random

import pytest
from hypothesis import HealthCheck, settings

# A codec is compiled when it is first used: the first example may be slow.
_COMMON = settings(deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("short", _COMMON, max_examples=10)
settings.register_profile("long", _COMMON, max_examples=200)
settings.load_profile(os.environ.get("ODRADEK_HYPOTHESIS", "short"))


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(random.SystemRandom().getrandbits(32))
    # kafka-python reads its schemas so, when it is imported.
    config.addinivalue_line("filterwarnings", "ignore:(read|open)_text is deprecated:DeprecationWarning")


def pytest_report_header(config: pytest.Config) -> str:
    return f"this run again: --hypothesis-seed={config.getoption('--hypothesis-seed')}"
