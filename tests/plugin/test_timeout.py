"""`--kafka-timeout`: tests that hang in a client."""

from __future__ import annotations

import signal

import pytest

from odradek.plugin import timeout
from tests.plugin.project import TITLE, bare, blocks, run, run_in_subprocess

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.sockets, pytest.mark.clients]

CLIENTS = """
        import ctypes
        import pytest
        import threading
        import time
        import unittest
        from confluent_kafka import Consumer, Producer
        from odradek.plugin.unittest_mixin import KafkaTestMixin

        def consumer(servers, topic):
            config = {"group.id": "billing", "client.id": "reader", "log_level": 0}
            consumer = Consumer({"bootstrap.servers": servers, **config})
            consumer.subscribe([topic])
            return consumer

        def wait_in_c():
            mutex = ctypes.create_string_buffer(64)
            for _ in range(2):
                ctypes.CDLL(None).pthread_mutex_lock(mutex)
"""


def test_hanging_consumer_fails_with_what_it_waits_for(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        def test_before(kafka_cluster):
            pass

        def test_reads(kafka_bootstrap_servers, kafka_topic):
            consumer(kafka_bootstrap_servers, kafka_topic).poll(-1)
        """,
        "--kafka-timeout=4",
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([
        "E*Failed: test_project.py::test_reads has not ended after 4 s (--kafka-timeout)",
        "E * requests that wait:",
        "E *reader (confluent-kafka-python *) at 127.0.0.1:*, node *: Fetch v* waits for records of test_reads-*-0 (at most * ms more)",
        TITLE,
    ])  # fmt: skip
    found = [bare(line).removeprefix("EFailed:").removeprefix("E") for line in result.outlines]
    assert not [line for line in blocks("text")[1].splitlines() if bare(line) not in found], "the listing of the page"


PHASES = {
    "call": """
        def test_waits(kafka_cluster):
            threading.Event().wait()
""",
    "setup": """
        @pytest.fixture
        def late(kafka_cluster):
            threading.Event().wait()

        def test_waits(late):
            pass
""",
    "teardown": """
        @pytest.fixture
        def late(kafka_cluster):
            yield
            threading.Event().wait()

        def test_waits(late):
            pass
""",
    "unittest": """
        class OrdersTest(KafkaTestMixin, unittest.TestCase):
            def test_waits(self):
                threading.Event().wait()
""",
    "factory": """
        def test_waits(make_kafka_cluster):
            make_kafka_cluster(nodes=1)
            threading.Event().wait()
""",
}


@pytest.mark.parametrize("phase", PHASES)
def test_any_phase_can_be_interrupted(pytester: pytest.Pytester, phase: str) -> None:
    before = signal.getsignal(signal.SIGUSR2)
    result = run(pytester, CLIENTS + PHASES[phase], ini="kafka_timeout = 0.3")
    assert result.parseoutcomes()["errors" if phase in ("setup", "teardown") else "failed"] == 1
    result.stdout.fnmatch_lines(["*test_waits has not ended after 0.3 s (--kafka-timeout)", "*no request waits on 0 connections*"])
    assert signal.getsignal(signal.SIGUSR2) == before


def test_test_that_hangs_twice_is_interrupted_twice(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeout, "TEARDOWN_S", 0.3)
    result = run(
        pytester,
        CLIENTS
        + """
        @pytest.fixture
        def late(kafka_cluster):
            yield
            threading.Event().wait()

        def test_waits(late):
            threading.Event().wait()
        """,
        "--kafka-timeout=0.3",
    )
    assert result.parseoutcomes()["failed"] == 1
    assert result.parseoutcomes()["errors"] >= 1


def test_quick_and_plain_tests_are_not_touched(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        def test_quick(kafka_cluster, pytestconfig):
            assert any(each.name == "kafka-timeout" for each in threading.enumerate())

        def test_plain():
            assert not any(each.name == "kafka-timeout" for each in threading.enumerate())
        """,
        "--kafka-timeout=60",
    )
    result.assert_outcomes(passed=2)


def test_debugger_ends_the_time_limit(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        def test_debugs(kafka_cluster, pytestconfig):
            pytestconfig.hook.pytest_enter_pdb(config=pytestconfig, pdb=None)
            assert not any(each.name == "kafka-timeout" for each in threading.enumerate())
        """,
        "--kafka-timeout=60",
    )
    result.assert_outcomes(passed=1)


def test_stopped_and_paused_nodes_are_named(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        @pytest.mark.kafka(nodes=3)
        def test_writes(kafka_cluster, kafka_topic):
            producer = Producer({"bootstrap.servers": kafka_cluster.bootstrap_servers, "client.id": "shop", "log_level": 0})
            producer.produce(kafka_topic, b"value")
            producer.flush()
            (leader,) = {topic.partitions[0].leader for topic in kafka_cluster.topics()}
            kafka_cluster.pause_node(leader)
            kafka_cluster.stop_node(leader % 3 + 1)
            threading.Event().wait()
        """,
        "--kafka-timeout=4",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "*stopped nodes, which accept no connection: ?",
        "*shop (*) at 127.0.0.1:*, node ?: whatever it sends waits for node ?, which is paused; use resume_node",
    ])  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGUSR2"), reason="needs signals")
def test_wait_in_c_ends_the_process_with_the_report(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(
        pytester,
        CLIENTS
        + """
        def test_locks(kafka_cluster):
            wait_in_c()
        """,
        "--kafka-timeout=0.5",
        "--kafka-artifacts=files",
    )
    assert result.ret == 1
    result.stderr.fnmatch_lines([
        "test_project.py::test_locks has not ended after 0.5 s (--kafka-timeout)",
        "no request waits on 0 connections",
        "the main thread executes no Python code, *",
        "cluster: node 1 at *",
        "file: *.pcapng",
        "*test_project.py*in wait_in_c",
    ])  # fmt: skip


@pytest.mark.slow
def test_wait_in_c_fails_the_test_under_xdist(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(
        pytester,
        CLIENTS
        + """
        def test_locks(kafka_cluster):
            wait_in_c()
        """,
        "--kafka-timeout=0.5",
        "-n1",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*crashed while running 'test_project.py::test_locks'*"])
    assert "test_locks has not ended after 0.5 s" in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("limit", ["soon", "0", "-1", "nan"])
def test_invalid_limit_is_named(pytester: pytest.Pytester, limit: str) -> None:
    result = run(pytester, "def test_any(): pass", f"--kafka-timeout={limit}")
    assert f"kafka_timeout: must be a number of seconds above 0, not '{limit}'" in result.stdout.str() + result.stderr.str()
