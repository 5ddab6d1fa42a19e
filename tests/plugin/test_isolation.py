"""A large suite on several workers: its tests share no state, and the plugin costs nothing where it is not used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.plugin.project import run_in_subprocess

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.sockets]

TESTS, WORKERS = 200, 4
SUITE = """
import os
import pytest

NOTES = os.path.join(os.path.dirname(__file__), "addresses-")

@pytest.mark.parametrize("number", range({tests}))
def test_finds_nothing_of_others(number, kafka_cluster, kafka_topic, kafka_wire, async_kafka_cluster):
    assert [topic.name for topic in kafka_cluster.topics()] == [kafka_topic]
    assert kafka_cluster.records(kafka_topic) == [] and kafka_cluster.groups() == [] and kafka_cluster.list_faults() == []
    assert kafka_cluster.clock.state().speed == 1 and [node.state for node in kafka_cluster.nodes()] == ["running"] * 2
    assert kafka_wire.requests() == [] and kafka_cluster.connections() == []
    with open(NOTES + os.environ["PYTEST_XDIST_WORKER"], "a") as notes:
        print(kafka_cluster.bootstrap_servers, file=notes)

    kafka_cluster.produce(kafka_topic, ["value"])
    kafka_cluster.create_topic("left-over")
    kafka_cluster.fault(api="Produce", error="NOT_LEADER_OR_FOLLOWER")
    kafka_cluster.clock.freeze()
    kafka_cluster.clock.advance(seconds=1)
    kafka_cluster.stop_node(1 + number % 2)
"""


@pytest.mark.slow
def test_tests_of_a_large_suite_share_no_state(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(pytester, SUITE.format(tests=TESTS), f"-n{WORKERS}", "--kafka-reset")
    result.assert_outcomes(passed=TESTS)
    addresses = [set(path.read_text().splitlines()) for path in pytester.path.glob("addresses-*")]
    assert [len(each) for each in addresses] == [1] * WORKERS, "one cluster for each worker, whose ports stay"
    ports = [port for each in addresses for servers in each for port in servers.split(",")]
    assert len(set(ports)) == 2 * WORKERS


def test_plugin_imports_no_broker_where_it_is_not_used(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_plain():
            assert not [name for name in sys.modules if name.startswith("odradek.broker")]
            imported = {name.rpartition(".")[2] for name in sys.modules if name.startswith("odradek.plugin.")}
            assert imported == {"fixtures", "options", "pytest_plugin", "running_test", "simulations", "watching"}
        """
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider"]
    ended = subprocess.run(command, cwd=pytester.path, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout
