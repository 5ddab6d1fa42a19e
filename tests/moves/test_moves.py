"""A short run of `make moves`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import apache_kafka
from tests.moves.moved_cluster import ROUND_TRIPS, move
from tests.moves.share_group import ShareGroup


@pytest.mark.apache_kafka
@pytest.mark.slow
@pytest.mark.sockets
def test_share_group_continues_on_apache_kafka_and_back(tmp_path: Path) -> None:
    if missing := apache_kafka.missing():
        pytest.skip(f"{missing} is missing")
    move(ShareGroup(), ROUND_TRIPS[0], tmp_path)
