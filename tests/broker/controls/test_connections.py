"""Describing the connections of clients."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer

from odradek import Cluster

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


def test_connections_name_client_and_waiting_request() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster:
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "client.id": "reader"})
        consumer.subscribe(["orders"])
        consumer.poll(0.1)
        found = cluster.wait_until(lambda: [each for each in cluster.connections() if each.waits_for], timeout_s=30)[0]
        assert (found.node, found.listener, found.host, found.client_id) == (1, "PLAINTEXT", "127.0.0.1", "reader")
        assert found.software_name == "confluent-kafka-python"
        assert "rdkafka" in found.software_version
        assert found.principal == "User:ANONYMOUS"
        assert found.waits_for in ("Fetch", "JoinGroup", "FindCoordinator", "Metadata")
        numbers = [each.connection for each in cluster.connections()]
        assert numbers == sorted(numbers)
        consumer.close()
