"""The control that shows the metrics that clients have pushed."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Producer

from odradek import Cluster
from odradek.broker.controls.client_metrics import ClientMetricsPush
from odradek.protocol.messages.get_telemetry_subscriptions import GET_TELEMETRY_SUBSCRIPTIONS, GetTelemetrySubscriptionsRequest
from odradek.protocol.messages.incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS
from odradek.protocol.messages.push_telemetry import PUSH_TELEMETRY, PushTelemetryRequest
from tests.broker.network.client import ask, connect
from tests.differential.requests import request_of

pytestmark = [pytest.mark.sockets, pytest.mark.clients]

SETTINGS = {"metric.reporters": "odradek"}
CLIENT = b"\7" * 16


def subscribe(cluster: Cluster, **configs: str) -> None:
    changes = [{"name": name, "value": value, "config_operation": 0} for name, value in configs.items()]
    resource = {"resource_type": 16, "resource_name": "all", "configs": changes}
    with connect(cluster.bootstrap_servers) as connection:
        request = request_of(INCREMENTAL_ALTER_CONFIGS, {"resources": [resource], "validate_only": False})
        assert not ask(connection, INCREMENTAL_ALTER_CONFIGS, 1, request).responses[0].error_code


def test_metrics_of_librdkafka_are_shown() -> None:
    with Cluster(nodes=1, settings=SETTINGS, topics={"orders": 1}) as cluster:
        subscribe(cluster, **{"metrics": "*", "interval.ms": "100"})
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "billing"})
        producer.produce("orders", b"value")
        producer.flush(30)
        cluster.wait_until(lambda: [each for each in cluster.client_metrics() if each.metrics], timeout_s=30)
        del producer  # librdkafka then pushes its metrics for the last time
        pushed = cluster.wait_until(lambda: [each for each in cluster.client_metrics() if each.terminating], timeout_s=30)[-1]
        assert (pushed.node, pushed.client_id, pushed.software_name, pushed.problem) == (1, "billing", "confluent-kafka-python", None)
        names = {metric.name for each in cluster.client_metrics() for metric in each.metrics}
        assert "org.apache.kafka.producer.connection.creation.total" in names
        assert all(metric.kind in ("gauge", "sum") and metric.time_ms > 0 for metric in pushed.metrics)


def push_and_show(metrics: bytes, **options: Any) -> ClientMetricsPush:
    """Pushes metrics by a request with other `options`, and returns them as the cluster shows them."""
    with Cluster(nodes=1) as cluster, connect(cluster.bootstrap_servers) as connection:
        request = GetTelemetrySubscriptionsRequest(client_instance_id=CLIENT)
        subscription = ask(connection, GET_TELEMETRY_SUBSCRIPTIONS, 0, request).subscription_id
        pushed = PushTelemetryRequest(client_instance_id=CLIENT, subscription_id=subscription, metrics=metrics, **options)
        assert not ask(connection, PUSH_TELEMETRY, 0, pushed).error_code
        (shown,) = cluster.client_metrics()
        return shown


def test_unreadable_metrics_are_shown_with_the_problem() -> None:
    shown = push_and_show(b"\x0a\x7f", terminating=False, compression_type=0)
    assert (shown.metrics, shown.client_instance_id) == ([], "BwcHBwcHBwcHBwcHBwcHBw")
    assert shown.problem == "a field of 127 bytes, of which 0 are present"


def test_compressed_metrics_that_are_damaged_are_shown() -> None:
    shown = push_and_show(b"no zstd", terminating=True, compression_type=4)
    assert shown.problem and shown.terminating
