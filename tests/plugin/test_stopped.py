"""Tests that stop the cluster which they share with others."""

from __future__ import annotations

import unittest
from typing import Any, ClassVar

import pytest

from odradek.plugin import KafkaClusterStoppedWarning, KafkaTestMixin
from tests.plugin.project import run

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.sockets]

SUITE = """
import pytest
from odradek import Cluster

started = []

@pytest.fixture(scope="session")
def shared_address(kafka_cluster):
    started.append(kafka_cluster.bootstrap_servers)
    return kafka_cluster.bootstrap_servers

def test_first(kafka_cluster, kafka_bootstrap_servers, shared_address, kafka_topic):
    assert kafka_bootstrap_servers == shared_address == kafka_cluster.bootstrap_servers

def test_stops(kafka_cluster, kafka_topic, kafka_faults, kafka_clock, kafka_wire):
    kafka_cluster.stop()

def test_uses(kafka_cluster, kafka_bootstrap_servers, shared_address, kafka_topic):
    assert kafka_bootstrap_servers == shared_address == kafka_cluster.bootstrap_servers
    assert len(started) == 2 and kafka_cluster.topics()

@pytest.mark.asyncio
def test_uses_asynchronously(async_kafka_cluster, kafka_bootstrap_servers):
    assert async_kafka_cluster.bootstrap_servers == kafka_bootstrap_servers

def test_stops_its_own(kafka_cluster, make_kafka_cluster):
    make_kafka_cluster(nodes=1).stop()
"""


def test_tests_after_one_that_stops_get_a_new_cluster(pytester: pytest.Pytester) -> None:
    result = run(pytester, SUITE.replace("@pytest.mark.asyncio\n", ""), "-W", "default")
    result.assert_outcomes(passed=5)
    assert result.stdout.str().count(" has stopped ") == 1
    result.stdout.fnmatch_lines(["*KafkaClusterStoppedWarning: test_project.py::test_stops has stopped kafka_cluster, which tests*"])


@pytest.mark.parametrize("options", [["--kafka-reset"], ["-p", "no:randomly", "--kafka-timeout", "30"]])
def test_options_work_with_a_stopped_cluster(pytester: pytest.Pytester, options: list[str]) -> None:
    run(pytester, SUITE.replace("@pytest.mark.asyncio\n", ""), "-W", "ignore", *options).assert_outcomes(passed=5)


def test_cluster_of_one_test_may_be_stopped(pytester: pytest.Pytester) -> None:
    tests = "def test_stops(kafka_cluster): kafka_cluster.stop()\ndef test_uses(kafka_cluster): kafka_cluster.topics()"
    run(pytester, tests, "-W", "error::odradek.plugin.KafkaClusterStoppedWarning", ini="kafka_scope = function").assert_outcomes(passed=2)


def test_mix_in_starts_a_stopped_cluster_again() -> None:
    class One(KafkaTestMixin, unittest.TestCase):
        kafka_options: ClassVar[dict[str, Any]] = {"nodes": 1}
        kafka_named_options: ClassVar[dict[str, Any]] = {"mirror": {"nodes": 1, "topics": {"copies": 1}}}

        def test_first_stops_its_cluster(self) -> None:
            self.kafka_cluster.stop()
            self.kafka_clusters["mirror"].produce("copies", ["a"])

        def test_second_uses_a_new_one(self) -> None:
            self.assertEqual([topic.name for topic in self.kafka_cluster.topics()], [self.kafka_topic])
            self.assertEqual(self.kafka_clusters["mirror"].records("copies"), [])

    tests = unittest.defaultTestLoader.loadTestsFromTestCase(One)
    with pytest.warns(
        KafkaClusterStoppedWarning, match=r"One\.test_first_stops_its_cluster has stopped the cluster kafka_cluster, which the tests of"
    ):
        result = tests.run(unittest.TestResult())
    assert (result.testsRun, result.errors, result.failures) == (2, [], [])
    assert not One.kafka_cluster.is_running and not One.kafka_clusters["mirror"].is_running
