"""`--kafka-explore`: tests that are run again and again, each time with another fault."""

from __future__ import annotations

import json

import pytest

from tests.plugin.project import run_in_subprocess

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.sockets, pytest.mark.clients, pytest.mark.timeout(120)]

SHOP = """
        import pytest
        from confluent_kafka import Producer

        def sell(servers, topic, **settings):
            with Producer({"bootstrap.servers": servers, "log_level": 0, **settings}) as producer:
                producer.produce(topic, b"book")
                producer.flush(20)

        def test_sells(kafka_cluster, kafka_topic):
            sell(kafka_cluster.bootstrap_servers, kafka_topic)
            assert [order.value for order in kafka_cluster.records(kafka_topic)] == [b"book"]
"""
PROTECTED = SHOP.replace('"log_level": 0,', '"log_level": 0, "enable.idempotence": True,')
LOST = "Produce#1@producer:lost-response"


def test_fault_that_breaks_a_test_is_found(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(pytester, SHOP, "--kafka-explore", "--kafka-explore-report=found.json", "--kafka-artifacts=kept")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "kafka explore: test_project.py::test_sells  * points, * runs in * s: * passed, * failed, 0 not reached",
        "  FAILED 3/3  producer-1: the response to Produce 1 was lost",
        "*assert [[]b'book', b'book'[]] == [[]b'book'[]]",
        f'*reproduce: @pytest.mark.kafka(fault="{LOST}") or --kafka-explore-only \'{LOST}\'',
        "*doctor: *",
    ])  # fmt: skip
    (found,) = json.loads((pytester.path / "found.json").read_text())
    assert {each["trial"] for each in found["failures"]} >= {LOST, "Produce#1@producer:sent-twice"}
    assert "Produce" in found["failures"][0]["evidence"]["diagram"]
    assert list((pytester.path / "kept").glob("*lost-response*.pcapng"))


@pytest.mark.slow
def test_protected_service_survives_one_fault_in_each_run(pytester: pytest.Pytester) -> None:
    checked = PROTECTED.replace("            sell(", "            assert len(kafka_cluster.list_faults()) <= 1\n            sell(")
    result = run_in_subprocess(pytester, checked, "--kafka-explore", "--kafka-explore-report=page.html")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["kafka explore: test_project.py::test_sells  *: * passed, 0 failed, 0 not reached"])
    assert "test_sells" in (pytester.path / "page.html").read_text()


@pytest.mark.slow
def test_found_fault_is_repeated_by_an_option_and_by_a_mark(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(pytester, SHOP, f"--kafka-explore-only={LOST}")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["  FAILED 3/3  producer: the response to Produce 1 was lost"])
    marked = SHOP.replace("        def test_sells", f'        @pytest.mark.kafka(fault="{LOST}")\n        def test_sells')
    run_in_subprocess(pytester, marked).assert_outcomes(failed=1)


@pytest.mark.slow
def test_mark_whose_point_is_not_reached_is_an_error(pytester: pytest.Pytester) -> None:
    marked = SHOP.replace("        def test_sells", '        @pytest.mark.kafka(fault="Produce#7@producer:reset")\n        def test_sells')
    result = run_in_subprocess(pytester, marked)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the test has not reached the point of its fault: *Produce#7@producer:reset*"])


@pytest.mark.slow
def test_fault_that_is_not_reached_hits_no_later_test(pytester: pytest.Pytester) -> None:
    mark = '@pytest.mark.kafka(fault="Produce#2@producer:lost-response")'
    project = SHOP.replace("        def test_sells", f"        {mark}\n        def test_sells")
    project += """
        @pytest.mark.kafka(fault="Produce#3@producer:reset")
        def test_sells_again(kafka_cluster, kafka_topic):
            assert len(kafka_cluster.list_faults()) == 1
            sell(kafka_cluster.bootstrap_servers, kafka_topic)
    """
    run_in_subprocess(pytester, project).assert_outcomes(passed=2, errors=2)


@pytest.mark.slow
def test_error_of_a_wider_fixture_is_reported(pytester: pytest.Pytester) -> None:
    project = """
        import pytest

        @pytest.fixture(scope="module")
        def broken_at_its_end():
            yield
            raise RuntimeError("cannot end")

        def test_sends_nothing(kafka_cluster, broken_at_its_end):
            pass
    """
    result = run_in_subprocess(pytester, project, "--kafka-explore")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*cannot end*", "kafka explore: *not explored: it sends no request to a cluster"])


@pytest.mark.slow
def test_workers_share_the_faults_of_a_marked_test(pytester: pytest.Pytester) -> None:
    marked = SHOP.replace("        def test_sells", '        @pytest.mark.kafka_explore(without=["late"])\n        def test_sells')
    result = run_in_subprocess(pytester, marked, "-n2")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines([
        "kafka explore: test_project.py::test_sells  *",
        f'*reproduce: @pytest.mark.kafka(fault="{LOST}")*',
    ])  # fmt: skip


ODD = """
        import threading
        import unittest

        import pytest
        from confluent_kafka import Producer
        from odradek.plugin import KafkaTestMixin

        left = []
        ended = threading.Event()

        @pytest.fixture(scope="session", autouse=True)
        def end_of_threads():
            yield
            ended.set()

        @pytest.fixture(scope="module")
        def prepared(kafka_cluster):
            kafka_cluster.create_topic("prepared")

        def test_fails(kafka_cluster):
            kafka_cluster.produce("orders", ["1"])
            assert kafka_cluster.records("nothing")

        def test_uses_no_cluster():
            pass

        def test_hangs(kafka_cluster):
            kafka_cluster.wait_until(lambda: False, timeout_s=60)

        def test_uses_a_wider_fixture(kafka_cluster, prepared):
            with Producer({"bootstrap.servers": kafka_cluster.bootstrap_servers, "log_level": 0}) as producer:
                producer.produce("prepared", b"1")
                producer.flush(20)
            assert len(kafka_cluster.records("prepared")) in (1, 2)

        def send_again_and_again(producer):
            while not ended.wait(0.1):
                producer.produce("orders", b"again")
                producer.poll(0)

        def test_leaks(kafka_cluster):
            config = {"client.id": "leaker", "log_level": 0}
            producer = Producer({"bootstrap.servers": kafka_cluster.bootstrap_servers, **config})
            left.append(producer)
            producer.produce("orders", b"1")
            producer.flush(20)
            threading.Thread(target=send_again_and_again, args=[producer], daemon=True).start()
            assert kafka_cluster.records("orders")

        def test_sends_less_and_less(kafka_cluster):
            left.append(None)
            with Producer({"bootstrap.servers": kafka_cluster.bootstrap_servers, "log_level": 0}) as producer:
                for _ in range({1: 3, 2: 1, 3: 1}.get(left.count(None), 0)):
                    producer.produce("orders", b"1")
                    producer.flush(20)

        class Orders(KafkaTestMixin, unittest.TestCase):
            kafka_options = {"nodes": 1, "topics": {"orders": 1}}

            def test_method(self):
                with Producer({"bootstrap.servers": self.kafka_bootstrap_servers, "log_level": 0}) as producer:
                    producer.produce("orders", b"1")
                    producer.flush(20)
                self.assertEqual(len(self.kafka_cluster.records("orders")), 1)
"""


@pytest.mark.slow
def test_odd_tests_get_a_line_each(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(pytester, ODD, "--kafka-explore", "--kafka-timeout=3", "--kafka-explore-budget=5s")
    lines = result.stdout.str()
    for expected in (
        "test_fails  not explored: it fails without faults, in run 1 of 3: ",
        "test_uses_no_cluster  not explored: it sends no request to a cluster",
        "test_hangs  not explored: it does not end without faults",
        "  the test leaves 1 client open, which may disturb the runs that follow; close them at its end",
        "Orders::test_method  ",
        "  FAILED 3/3  producer-1: the response to Produce 1 was lost",
        "  not reached: Produce#1@producer:lost-response",
        "of the first run came in no other run, so that no fault was tried there",
    ):
        assert expected in lines
    assert "test_leaks  not explored" not in lines
    assert "test_uses_a_wider_fixture  not explored" not in lines


DAMAGED = """
        from confluent_kafka import Consumer

        def first_order(servers, topic):
            config = {"group.id": "check", "auto.offset.reset": "earliest", "log_level": 0}
            consumer = Consumer({"bootstrap.servers": servers, **config})
            consumer.subscribe([topic])
            try:
                return consumer.poll(20).value()
            finally:
                consumer.close()

        def test_reads_orders(kafka_cluster, kafka_topic):
            kafka_cluster.produce(kafka_topic, ["book", "pen"])
            assert first_order(kafka_cluster.bootstrap_servers, kafka_topic) == b"book"
"""


@pytest.mark.slow
def test_damage_that_a_test_does_not_notice_is_reported(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(pytester, DAMAGED, "--kafka-explore-damage")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "kafka explore: test_project.py::test_reads_orders  * damages in * s: 2 noticed, * not noticed, 0 not done",
        "  NOT NOTICED  no test noticed that the 2nd record of test_reads_orders-1-0 was gone (impossible on a correct Kafka)",
        "*reproduce: --kafka-explore-only 'test_reads_orders-1-0#2:gone'",
    ])  # fmt: skip
    again = run_in_subprocess(pytester, DAMAGED, "--kafka-explore-only=test_reads_orders-1-0#1:gone")
    again.assert_outcomes(passed=1)
    again.stdout.fnmatch_lines(["kafka explore: *: 1 noticed, 0 not noticed, 0 not done"])


@pytest.mark.slow
def test_pair_of_faults_is_repeated_and_told_in_order(pytester: pytest.Pytester) -> None:
    pair = "Produce#1@producer:reset + Produce#2@producer:lost-response"
    result = run_in_subprocess(pytester, SHOP, f"--kafka-explore-only={pair}")
    result.assert_outcomes(failed=1)
    story = "producer: the connection was reset before Produce 1 was served; then producer: the response to Produce 2 was lost"
    result.stdout.fnmatch_lines([f"  FAILED 3/3  {story}", f"*--kafka-explore-only '{pair}'"])


@pytest.mark.slow
def test_ctrl_c_prints_what_was_found_so_far(pytester: pytest.Pytester) -> None:
    interrupted = SHOP.replace(
        "            sell(kafka_cluster",
        """            import os, pathlib, signal
            with pathlib.Path("runs").open("a") as runs:
                runs.write("x")
            if pathlib.Path("runs").stat().st_size == 6:
                os.kill(os.getpid(), signal.SIGINT)
            sell(kafka_cluster""",
    )
    result = run_in_subprocess(pytester, interrupted, "--kafka-explore")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["kafka explore: test_project.py::test_sells  *", "  FAILED 1/1  producer-1: the response to Produce 1 was lost"]
    )
