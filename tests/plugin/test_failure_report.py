"""The section `kafka exchanges` of failed tests."""

from __future__ import annotations

import pytest
from confluent_kafka import Producer

from odradek import Cluster
from odradek.plugin import failure_report
from odradek.plugin.failure_report import report_of
from odradek.plugin.watching import Watched
from tests.plugin.project import TITLE, run, section

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.sockets, pytest.mark.clients]

PRODUCER = """
        import pytest
        import unittest
        from confluent_kafka import Consumer, Producer

        def write(cluster, topic, value=b"value", **config):
            producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "shop", "log_level": 0, **config})
            producer.produce(topic, value)
            producer.flush()
"""


def test_failed_call_shows_exchanges_groups_and_faults(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        PRODUCER
        + """
        @pytest.mark.kafka(nodes=1)
        def test_orders(kafka_cluster, kafka_topic, kafka_faults):
            kafka_faults.add(api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=1)
            kafka_faults.add(api="Fetch", topic="other", drop=True)
            with kafka_faults.add(api="Metadata", delay_ms=1):
                write(kafka_cluster, kafka_topic)
            config = {"group.id": "billing", "auto.offset.reset": "earliest", "client.id": "reader", "log_level": 0}
            consumer = Consumer({"bootstrap.servers": kafka_cluster.bootstrap_servers, **config})
            consumer.subscribe([kafka_topic])
            consumer.commit(consumer.consume(1, 20)[0], asynchronous=False)
            consumer.close()
            write(kafka_cluster, kafka_topic)
            assert not "as expected"
        """,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        TITLE,
        "cluster: node 1 at 127.0.0.1:*",
        "what happened in this test, with * exchanges:",
        "  clients: shop is librdkafka 2.*, reader is librdkafka 2.*",
        "  *shop -> node 1  Produce v* test_orders-*acks=all: ✗ NOT_LEADER_OR_FOLLOWER; [[]fault *",
        "  *shop -> node 1  Produce v* test_orders-*acks=all: test_orders-*-0 at offset 0",
        "  *reader -> node 1  OffsetCommit v* offset 1",
        "  *shop -> node 1  Produce v* test_orders-*-0 at offset 1",
        "group billing: Empty, 0 members, lag 1",
        "  test_orders-*-0: committed 1, lag 1",
        "fault *(api=Produce times=1 error=NOT_LEADER_OR_FOLLOWER): 1 hit",
        "fault *(api=Fetch topic=other drop=True): 0 hits; *",
        "fault *: api=Metadata delay_ms=1: * hit*, and is removed",
    ])  # fmt: skip


def test_failed_test_shows_the_findings_of_the_doctor(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        PRODUCER
        + """
        @pytest.mark.kafka(nodes=1, settings={"message.max.bytes": 1000})
        def test_orders(kafka_cluster, kafka_topic):
            write(kafka_cluster, kafka_topic, bytes(5000))
            assert not kafka_cluster.records(kafka_topic)
            assert not "as expected"
        """,
    )
    result.stdout.fnmatch_lines([TITLE, "doctor: oversize batches: shop *", "  problem: *", "  advice:  *"])


@pytest.mark.parametrize(
    "fixture",
    [
        "write(kafka_cluster, kafka_topic)\n            assert not 'set up'\n            yield",
        "yield\n            write(kafka_cluster, kafka_topic)\n            assert not 'torn down'",
    ],
    ids=["setup", "teardown"],
)
@pytest.mark.parametrize("scope", ["session", "function"])
def test_failed_setup_and_teardown_have_the_section(pytester: pytest.Pytester, fixture: str, scope: str) -> None:
    result = run(
        pytester,
        PRODUCER
        + f"""
        @pytest.fixture
        def orders(kafka_cluster, kafka_topic):
            {fixture}

        def test_orders(orders):
            pass
        """,
        ini=f"kafka_scope = {scope}",
    )
    assert "errors=1" in str(result.parseoutcomes()).replace("': ", "=").replace("'", "")
    assert "Produce v" in section(result)


def test_failed_teardown_above_the_cluster_has_the_section(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        PRODUCER
        + """
        @pytest.fixture
        def broken():
            yield
            assert not "torn down"

        def test_orders(broken, make_kafka_cluster):
            write(make_kafka_cluster(nodes=1), "orders")
        """,
    )
    result.assert_outcomes(passed=1, errors=1)
    assert "Produce v" in section(result)


def test_failed_unittest_has_the_section(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        PRODUCER
        + """
        from odradek.plugin.unittest_mixin import KafkaTestMixin

        class OrdersTest(KafkaTestMixin, unittest.TestCase):
            kafka_options = {"nodes": 1}

            def test_orders(self):
                write(self.kafka_cluster, self.kafka_topic)
                self.fail("not as expected")

            def test_other(self):
                pass
        """,
    )
    result.assert_outcomes(passed=1, failed=1)
    assert "Produce v" in section(result)


def test_section_has_the_exchanges_of_its_test_only(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        PRODUCER
        + """
        @pytest.mark.parametrize("topic", ["first", "second"])
        def test_orders(kafka_cluster, topic):
            write(kafka_cluster, topic)
            assert topic == "first"

        def test_plain():
            assert not "as expected"
        """,
    )
    result.assert_outcomes(passed=1, failed=2)
    text = section(result)
    assert "Produce v" in text
    assert "first" not in text.partition("test_plain")[0]


def test_section_of_a_stopped_cluster_says_so(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        def test_orders(make_kafka_cluster):
            make_kafka_cluster(nodes=1).stop()
            assert not "as expected"
        """,
    )
    result.assert_outcomes(failed=1)
    assert "cluster: the cluster is not running" in section(result)


def test_section_without_a_record_says_so(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        def test_orders(make_kafka_cluster):
            make_kafka_cluster(nodes=1, record_exchanges=0)
            assert not "as expected"
        """,
    )
    result.assert_outcomes(failed=1)
    assert "its record of exchanges is switched off" in section(result)


def test_error_of_the_report_does_not_hide_the_failure(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> str:
        raise LookupError("broken")

    monkeypatch.setattr(failure_report, "_exchanges", broken)
    result = run(
        pytester,
        """
        def test_orders(kafka_cluster):
            assert "what was wrong" == "right"
        """,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 'what was wrong' == 'right'", TITLE, "(this part *cannot be made: LookupError('broken'))"])


def test_report_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failure_report, "MAX_FAULTS", 2)
    with Cluster(nodes=1) as cluster:
        watched = Watched(cluster, ends_with_call=False)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "linger.ms": 0, "client.id": "a long name " * 9})
        for number in range(4):
            producer.produce(f"orders-{number}-{'of a long name' * 9}".replace(" ", "-")[:240], b"value")
            producer.flush()
        for _ in range(5):
            cluster.fault(api="Fetch", topic="x" * 200, drop=True)
        lines = report_of(watched).text.splitlines()
    assert max(map(len, lines)) <= 120
    assert lines[-1] == "  and 3 more faults"


def test_clients_that_earlier_tests_left_open_are_left_out(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        PRODUCER
        + """
        KEPT = []

        def test_leaves(kafka_cluster):
            KEPT.append(Producer({"bootstrap.servers": kafka_cluster.bootstrap_servers, "client.id": "left", "log_level": 0}))
            KEPT[0].produce("left", b"value")
            KEPT[0].flush()
            assert not "as expected"

        def test_orders(kafka_cluster, kafka_topic):
            KEPT[0].produce("left", b"value")
            KEPT[0].flush()
            write(kafka_cluster, kafka_topic)
            KEPT.clear()
            assert not "as expected"
        """,
    )
    result.assert_outcomes(failed=2)
    first, second = result.stdout.str().split("- kafka exchanges -")[1:]
    assert "left -> node" in first
    assert "left -> node" not in second and "shop -> node" in second


@pytest.mark.parametrize(
    ("tls", "protocol", "cause"),
    [
        (True, "SSL", "the client does not trust the authority (CA) of the broker's certificate"),
        (True, "PLAINTEXT", "this looks like plaintext ("),
        (False, "SSL", "this looks like TLS, but the listener is PLAINTEXT"),
    ],
)
def test_report_has_the_cause_if_no_request_was_served(tls: bool, protocol: str, cause: str) -> None:
    with Cluster(nodes=1, tls=tls) as cluster:
        watched = Watched(cluster, ends_with_call=False)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "security.protocol": protocol, "log_level": 0})
        producer.produce("orders", b"value")
        cluster.wait_until(lambda: cause in " ".join(cluster.wire.story().split()))
        producer.purge()
        report = report_of(watched).text
    assert "no request was served in this test:" in report
    assert cause in " ".join(report.split())
