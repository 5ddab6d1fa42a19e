"""A short run of `make torn`."""

from __future__ import annotations

from pathlib import Path
from random import SystemRandom

import pytest

from tests import apache_kafka
from tests.kills.torn import compare


@pytest.mark.apache_kafka
@pytest.mark.slow
@pytest.mark.sockets
def test_apache_kafka_serves_the_same_from_a_torn_directory(tmp_path: Path) -> None:
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is missing")
    seed = SystemRandom().getrandbits(32)
    assert compare(1, seed, tmp_path) == [], f"make torn DIRECTORIES=1 SEED={seed}"
