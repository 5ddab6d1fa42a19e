"""Compares the results of group administration in each library with those recorded with Apache Kafka."""

from __future__ import annotations

import pytest

from odradek.broker import Cluster
from tests import apache_kafka
from tests.clients.administration import LIBRARIES, output_of, recorded
from tests.differential.clusters import SETTINGS

pytestmark = pytest.mark.clients


@pytest.mark.parametrize("library", LIBRARIES)
def test_group_administration_equals_apache_kafka(library: str) -> None:
    if library == "java" and (lacking := apache_kafka.missing()) is not None:
        pytest.skip(f"no {lacking}")
    with Cluster(nodes=2, settings=SETTINGS) as cluster:
        assert output_of(library, cluster.bootstrap_servers) == recorded(library)
