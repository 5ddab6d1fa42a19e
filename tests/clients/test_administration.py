"""The calls of administrators about groups: each library says of ours what it said of Apache Kafka."""

from __future__ import annotations

import pytest

from odradek.broker import Cluster
from tests import apache_kafka
from tests.clients.administration import LIBRARIES, recorded, told
from tests.differential.playing import SETTINGS

pytestmark = pytest.mark.clients


@pytest.mark.parametrize("library", LIBRARIES)
def test_what_is_said_of_groups(library: str) -> None:
    if library == "java" and (lacking := apache_kafka.missing()) is not None:
        pytest.skip(f"no {lacking}")
    with Cluster(nodes=2, settings=SETTINGS) as cluster:
        assert told(library, cluster.bootstrap_servers) == recorded(library)
