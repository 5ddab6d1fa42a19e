"""The mix-in for unittest."""

from __future__ import annotations

import unittest
from typing import Any, ClassVar

import pytest

from odradek.plugin.unittest_mixin import KafkaTestMixin

pytestmark = [pytest.mark.sockets]


class OrdersTest(KafkaTestMixin, unittest.TestCase):
    """A class of tests as a user writes it."""

    kafka_options: ClassVar[dict[str, Any]] = {"nodes": 1, "topics": {"orders": 4}}

    def test_first_writes_records(self) -> None:
        self.kafka_cluster.produce("orders", ["value"])
        self.kafka_cluster.produce(self.kafka_topic, ["value"])
        self.assertEqual(self.kafka_bootstrap_servers, self.kafka_cluster.bootstrap_servers)

    def test_second_finds_none(self) -> None:
        self.assertEqual(self.kafka_cluster.records("orders"), [])
        self.assertEqual(len(self.kafka_cluster.topics()), 2)
        self.assertIn("test_second_finds_none", self.kafka_topic)


def test_cluster_is_stopped_after_its_class() -> None:
    class One(OrdersTest):
        pass

    result = unittest.defaultTestLoader.loadTestsFromTestCase(One).run(unittest.TestResult())
    assert (result.testsRun, result.wasSuccessful()) == (2, True)
    assert "not running" in repr(One.kafka_cluster)
