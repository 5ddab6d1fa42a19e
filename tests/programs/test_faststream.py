"""A FastStream application reads and writes Avro with the schema registry of the cluster, also records with a newer schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek import Cluster
from tests.programs.program import PATIENCE_S, Program, python_with

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(600)]

APPLICATION = Path(__file__).with_name("faststream_app.py")
FIELDS = [{"name": "customer", "type": "string"}, {"name": "cents", "type": "long"}]
NOTE = {"name": "note", "type": ["null", "string"], "default": None}


def application(cluster: Cluster, directory: Path) -> Program:
    """Starts the application. Skips the test if FastStream cannot be installed."""
    python = python_with("faststream-0.7.8", "faststream[kafka]==0.7.8", "aiokafka==0.14.0", "python-schema-registry-client==2.6.1")
    variables = {"BOOTSTRAP_SERVERS": cluster.bootstrap_servers, "SCHEMA_REGISTRY_URL": cluster.schema_registry_url}
    return Program([python, str(APPLICATION)], directory, variables)


def test_faststream_adds_up_avro_of_two_versions(tmp_path: Path) -> None:
    with Cluster(nodes=2, topics={"orders": 1, "totals": 1}, schema_registry=True) as cluster:
        old, new = (
            cluster.schemas.register("orders-value", {"type": "record", "name": "Order", "fields": fields}).id.to_bytes(4, "big")
            for fields in (FIELDS, [*FIELDS, NOTE])
        )
        cluster.produce("orders", [b"\0" + old + b"\x04Od\x14", b"\0" + new + b"\x04Od\x28\x02\x02!"])
        with application(cluster, tmp_path):
            cluster.wait_for_records("totals", 2, timeout_s=PATIENCE_S)
        decoded = [each.decoded_value.data for each in cluster.decoded_records("totals") if each.decoded_value]
        assert decoded == ['{"customer":"Od","cents":10}', '{"customer":"Od","cents":30}']
        assert cluster.schemas.subjects() == ["orders-value", "totals-value"]
