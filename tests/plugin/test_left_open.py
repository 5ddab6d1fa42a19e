"""Warnings about clients that a test leaves open."""

from __future__ import annotations

import re

import pytest

from tests.plugin.project import bare, blocks, run

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.sockets, pytest.mark.clients]

CONNECTIONS = re.compile(r"(127\.0\.0\.1:\d+\s+to\s+node\s+\d,?\s*)+")
CLIENTS = """
        import pytest
        import subprocess
        import sys
        import unittest
        import warnings
        from confluent_kafka import Consumer, Producer
        import tracemalloc
        from odradek.plugin.unittest_mixin import KafkaTestMixin

        KEPT = []

        def producer(servers, name):
            producer = Producer({"bootstrap.servers": servers, "client.id": name, "log_level": 0})
            producer.produce("orders", b"value")
            producer.flush()
            return producer

        @pytest.fixture(autouse=True, scope="session")
        def kept_clients():
            yield
            KEPT.clear()
"""


def warnings_of(result: pytest.RunResult) -> list[str]:
    """Returns the warnings about clients that are left open."""
    return [line.partition("KafkaClientLeftOpenWarning: ")[2] for line in result.outlines if "LeftOpenWarning: " in line]


def test_left_clients_are_named_with_their_origin(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        @pytest.mark.filterwarnings("default")
        def test_leaves(kafka_bootstrap_servers):
            KEPT.append(producer(kafka_bootstrap_servers, "shop"))

        @pytest.mark.filterwarnings("default")
        def test_closes(kafka_bootstrap_servers):
            producer(kafka_bootstrap_servers, "tidy")
        """,
    )
    result.assert_outcomes(passed=2)
    (text,) = warnings_of(result)
    assert text.startswith("test_project.py::test_leaves: a Kafka client is left open: client id 'shop' (confluent-kafka-python ")
    assert "127.0.0.1:" in text and " to node " in text and "in this process" in text
    assert text.endswith("(python -X tracemalloc=5 shows the lines that created clients)")
    listing, shown = (bare(CONNECTIONS.sub("", each)) for each in (blocks("text")[2], text))
    assert shown == listing


def test_line_of_a_left_client_is_shown_if_traced(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        @pytest.fixture(scope="module", autouse=True)
        def traced():
            tracemalloc.start()
            yield
            tracemalloc.stop()

        @pytest.mark.filterwarnings("default")
        def test_leaves(kafka_bootstrap_servers):
            KEPT.append(Producer({"bootstrap.servers": kafka_bootstrap_servers, "client.id": "shop", "log_level": 0}))
            KEPT[0].produce("orders", b"value")
            KEPT[0].flush()
        """,
    )
    result.assert_outcomes(passed=1)
    line = (pytester.path / "test_project.py").read_text().splitlines().index("def test_leaves(kafka_bootstrap_servers):") + 2
    (text,) = warnings_of(result)
    assert text.endswith(f"test_project.py:{line})")


def test_client_of_a_wider_scope_is_not_reported(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        @pytest.fixture(scope="module")
        def shop(kafka_bootstrap_servers):
            yield producer(kafka_bootstrap_servers, "shop")

        def test_first(shop, kafka_cluster):
            shop.produce("orders", b"value")
            shop.flush()

        def test_reconnects(shop, kafka_cluster):
            kafka_cluster.reset()
            shop.produce("orders", b"value")
            shop.flush()
        """,
    )
    result.assert_outcomes(passed=2)


def test_client_of_a_failed_test_is_not_reported(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        def test_fails(kafka_bootstrap_servers):
            shop = producer(kafka_bootstrap_servers, "shop")
            assert not "as expected"
        """,
    )
    result.assert_outcomes(failed=1)


def test_left_clients_of_any_cluster_are_reported(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        @pytest.mark.filterwarnings("default")
        def test_makes(make_kafka_cluster):
            cluster = make_kafka_cluster(nodes=1)
            KEPT.append(producer(cluster.bootstrap_servers, "shop"))

        @pytest.mark.filterwarnings("default")
        class OrdersTest(KafkaTestMixin, unittest.TestCase):
            kafka_options = {"nodes": 1}

            def test_leaves(self):
                KEPT.append(producer(self.kafka_bootstrap_servers, "till"))

            def test_other(self):
                pass
        """,
    )
    result.assert_outcomes(passed=3)
    first, second = warnings_of(result)
    assert "test_makes" in first and "'shop'" in first
    assert "test_leaves" in second and "'till'" in second


def test_client_in_another_process_is_reported_as_such(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        PROGRAM = '''
        import sys
        from confluent_kafka import Producer
        producer = Producer({"bootstrap.servers": sys.argv[1], "client.id": "child", "log_level": 0})
        producer.produce("orders", b"value")
        producer.flush()
        print("connected", flush=True)
        sys.stdin.read()
        '''

        @pytest.fixture(scope="module", autouse=True)
        def children():
            yield
            for child in KEPT:
                child.communicate("")

        @pytest.mark.filterwarnings("default")
        def test_leaves(kafka_bootstrap_servers):
            command = [sys.executable, "-c", __import__("textwrap").dedent(PROGRAM), kafka_bootstrap_servers]
            KEPT.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            assert KEPT[0].stdout.readline() == "connected\\n"
        """,
    )
    result.assert_outcomes(passed=1)
    (text,) = warnings_of(result)
    assert "client id 'child'" in text and "in another process" in text


def test_warning_as_error_fails_the_teardown(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        CLIENTS
        + """
        @pytest.mark.filterwarnings("error")
        def test_leaves(make_kafka_cluster):
            cluster = make_kafka_cluster(nodes=1)
            KEPT.append((producer(cluster.bootstrap_servers, "shop"), cluster))

        def test_stopped():
            assert "not running" in repr(KEPT[0][1])
        """,
    )
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*KafkaClientLeftOpenWarning: test_project.py::test_leaves: a Kafka client is left open*"])
