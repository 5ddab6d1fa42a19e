"""Exploration of tests with `odradek.simulation`, and their faults at points."""

from __future__ import annotations

import json

import pytest

from tests.plugin.project import run_in_subprocess

pytest_plugins = ["pytester"]
pytestmark = [pytest.mark.clients, pytest.mark.timeout(120)]

SHOP = """
        import odradek
        import pytest
        from aiokafka import AIOKafkaProducer

        @odradek.simulation(seeds=5)
        async def test_sells(sim):
            cluster = await sim.cluster(nodes=1, topics={"orders": 1})
            producer = AIOKafkaProducer(bootstrap_servers=cluster.bootstrap_servers, acks="all")
            await producer.start()
            await producer.send_and_wait("orders", b"book")
            await producer.stop()
            assert [order.value for order in await cluster.records("orders")] == [b"book"]
"""
PROTECTED = SHOP.replace('acks="all"', "enable_idempotence=True")
LOST = "Produce#1@producer:lost-response"


@pytest.fixture(autouse=True)
def fixed_hash_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")


def test_fault_that_breaks_a_simulated_test_is_found(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(pytester, SHOP, "--kafka-explore", "--kafka-explore-report=found.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "kafka explore: test_project.py::test_sells  * points, * runs in * s: * passed, * failed, 0 not reached",
        "  FAILED 3/3  producer-1: the response to Produce 1 was lost",
        f"*reproduce: *--kafka-explore-only '{LOST}'",
    ])  # fmt: skip
    (found,) = json.loads((pytester.path / "found.json").read_text())
    assert "Produce" in found["failures"][0]["evidence"]["diagram"]
    assert {each["trial"] for each in found["failures"]} >= {LOST, "Produce#1@producer:sent-twice"}


@pytest.mark.slow
def test_protected_simulated_test_survives(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(pytester, PROTECTED, "--kafka-explore")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["kafka explore: test_project.py::test_sells  *: * passed, 0 failed, 0 not reached"])


def test_pairs_are_tried_after_single_faults(pytester: pytest.Pytester) -> None:
    options = ("--kafka-explore-depth=2", "--kafka-explore-seed=7", "--kafka-explore-budget=20s", "--kafka-explore-report=found.json")
    marked = PROTECTED.replace("@odradek.sim", '@pytest.mark.kafka_explore(without=["late", "crash-after"])\n        @odradek.sim')
    result = run_in_subprocess(pytester, marked, "--kafka-explore", *options)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["  the pairs were drawn from seed 7"])
    (found,) = json.loads((pytester.path / "found.json").read_text())
    assert found["runs"] > found["points"]


@pytest.mark.slow
def test_fault_of_a_simulated_test_is_repeated(pytester: pytest.Pytester) -> None:
    run_in_subprocess(pytester, SHOP, f"--kafka-explore-only={LOST}").assert_outcomes(failed=1)
    marked = SHOP.replace("@odradek.sim", f'@pytest.mark.kafka(fault="{LOST}")\n        @odradek.sim')
    result = run_in_subprocess(pytester, marked)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*[[]b'book', b'book'[]]*"])


@pytest.mark.slow
def test_damage_is_noticed_by_a_simulated_test(pytester: pytest.Pytester) -> None:
    result = run_in_subprocess(pytester, SHOP, "--kafka-explore-damage")
    result.stdout.fnmatch_lines(["kafka explore: test_project.py::test_sells  * damages in * s: * noticed, 0 not noticed, 0 not done"])
