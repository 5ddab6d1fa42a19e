"""A mix-in for `unittest.TestCase`: a cluster for each class of tests, which is reset before each test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from .watching import watch

if TYPE_CHECKING:
    from unittest import TestCase

    from .. import Cluster

    Base = TestCase
else:
    Base = object


class KafkaTestMixin(Base):
    """Starts `kafka_cluster` before the first test of a class and stops it after the last one.

        class OrdersTest(KafkaTestMixin, unittest.TestCase):
            kafka_options = {"nodes": 1, "topics": {"orders": 4}}

            def test_order_is_stored(self):
                producer = Producer({"bootstrap.servers": self.kafka_bootstrap_servers})

    `kafka_options` are the arguments of `Cluster`. Before each test the cluster returns to its state after start, and `kafka_topic` is the
    name of a topic of this test alone.
    """

    kafka_options: ClassVar[Mapping[str, Any]] = {}
    kafka_cluster: ClassVar[Cluster]

    @classmethod
    def setUpClass(cls) -> None:
        """Starts the cluster."""
        from .. import Cluster

        super().setUpClass()
        cls.kafka_cluster = Cluster(**cls.kafka_options).start()
        cls.addClassCleanup(cls._kafka_stop)

    @classmethod
    def _kafka_stop(cls) -> None:
        watch().stopping(cls.kafka_cluster)
        cls.kafka_cluster.stop()

    def setUp(self) -> None:
        """Resets the cluster and creates the topic of the test."""
        super().setUp()
        watch().add(self.kafka_cluster, ends_with_call=True)
        self.kafka_cluster.reset()
        self.kafka_topic = re.sub(r"[^a-zA-Z0-9._-]+", "-", self.id())[-200:]
        self.kafka_cluster.create_topic(self.kafka_topic)

    @property
    def kafka_bootstrap_servers(self) -> str:
        """The addresses of the cluster for a client."""
        return self.kafka_cluster.bootstrap_servers
