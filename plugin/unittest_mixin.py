"""A mix-in for `unittest.TestCase`: a cluster for each class of tests, which is reset before each test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar
from warnings import warn

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

    `kafka_options` are the arguments of `Cluster`. Before each test the cluster returns to its state after start, or starts again if a
    test has stopped it, and `kafka_topic` is the name of a topic of this test alone. `kafka_named_options` are the arguments of further
    clusters by name, such as {"mirror": {"nodes": 1}}, which are in `kafka_clusters`.
    """

    kafka_options: ClassVar[Mapping[str, Any]] = {}
    kafka_named_options: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    kafka_cluster: ClassVar[Cluster]
    kafka_clusters: ClassVar[Mapping[str, Cluster]]

    @classmethod
    def setUpClass(cls) -> None:
        """Starts the clusters."""
        from .. import Cluster

        super().setUpClass()
        cls.kafka_cluster = cls._kafka_start(Cluster(**cls.kafka_options))
        cls.kafka_clusters = {name: cls._kafka_start(Cluster(**options)) for name, options in cls.kafka_named_options.items()}

    @classmethod
    def _kafka_start(cls, cluster: Cluster) -> Cluster:
        cluster.start()
        cls.addClassCleanup(cls._kafka_stop, cluster)
        return cluster

    @classmethod
    def _kafka_stop(cls, cluster: Cluster) -> None:
        watch().announce_stop(cluster)
        cluster.stop()

    def setUp(self) -> None:
        """Resets the clusters and creates the topic of the test."""
        super().setUp()
        for name, cluster in {"kafka_cluster": self.kafka_cluster, **self.kafka_clusters}.items():
            self._kafka_begin(name, cluster)
        self.kafka_topic = re.sub(r"[^a-zA-Z0-9._-]+", "-", self.id())[-200:]
        self.kafka_cluster.create_topic(self.kafka_topic)

    def _kafka_begin(self, name: str, cluster: Cluster) -> None:
        if cluster.is_running:
            cluster.reset()
        else:
            cluster.start()
        watch().add(cluster, ends_with_call=True)
        self.addCleanup(_warn_if_stopped, cluster, f"{self.id()} has stopped the cluster {name}, which the tests of a class share")

    @property
    def kafka_bootstrap_servers(self) -> str:
        """The addresses of the cluster for a client."""
        return self.kafka_cluster.bootstrap_servers


def _warn_if_stopped(cluster: Cluster, text: str) -> None:
    if not cluster.is_running:
        from .shared_clusters import KafkaClusterStoppedWarning

        warn(f"{text}; the next test gets a new one", KafkaClusterStoppedWarning, stacklevel=1)
