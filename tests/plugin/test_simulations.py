"""Tests with `odradek.simulation` in a project of their own."""

from __future__ import annotations

import pytest

from odradek.simulation.decorator import simulation
from tests.plugin.project import run, run_in_subprocess

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.clients

PROJECT = """
    import asyncio
    import odradek
    from aiokafka import AIOKafkaProducer

    @odradek.simulation(seeds=20)
    async def test_orders(sim, tmp_path):
        assert tmp_path.is_dir()
        cluster = await sim.cluster(nodes=2, topics={"orders": 2})
        sim.network(latency=(0.001, 0.4), resets=0.1)
        sim.crash(node=1, after=1, for_s=2)
        idempotent = IDEMPOTENT
        producer = AIOKafkaProducer(bootstrap_servers=cluster.bootstrap_servers, enable_idempotence=idempotent, acks="all")
        while True:
            try:
                await producer.start()
                break
            except ConnectionError:
                await asyncio.sleep(1)
        for number in range(10):
            await producer.send_and_wait("orders", b"%d" % number)
        await producer.stop()
        assert sim.history.no_record_lost and sim.history.each_once
"""
KEEPS_RULES = PROJECT.replace("IDEMPOTENT", "True").replace("ConnectionError", "Exception")
BREAKS_RULES = PROJECT.replace("IDEMPOTENT", "False").replace("ConnectionError", "Exception")


@pytest.fixture(autouse=True)
def fixed_hash_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")


def test_test_that_passes_prints_a_summary(pytester: pytest.Pytester) -> None:
    result = run(pytester, KEEPS_RULES)
    result.assert_outcomes(passed=1)
    result.stdout.re_match_lines([r".*test_orders: 20 seeds, 0\.\d\d virtual hours, 20 distinct schedules, [\d.]+ seeds/s"])


@pytest.mark.slow
def test_seed_that_fails_is_reported_and_replayed(pytester: pytest.Pytester) -> None:
    result = run(pytester, BREAKS_RULES)
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [
            r"E +AssertionError: assert .*each_once: .* is in orders-\d 2 times and was sent 1 times.*",
            r".*simulation: seed \d+ fails after [\d.]+ virtual seconds",
            r".* replay:  pytest test_project.py::test_orders --kafka-seed \d+",
            r".* trace:   [0-9a-f]{16}, \d+ events",
            r".* faults:  \d+ of \d+ are needed .*",
            r".* the last \d+ entries of the wire with these faults, from [\d.]+ virtual seconds on:",
            r".*Produce v7 .*",
        ]
    )
    seed = result.stdout.str().split("--kafka-seed ")[1].split()[0]
    again = run(pytester, BREAKS_RULES, "--kafka-seed", seed)
    again.assert_outcomes(failed=1)
    trace = [line for line in result.outlines if "trace:" in line]
    assert trace == [line for line in again.outlines if "trace:" in line]


def test_number_of_seeds_is_an_option(pytester: pytest.Pytester) -> None:
    result = run(pytester, KEEPS_RULES, "--kafka-seeds", "2")
    result.stdout.re_match_lines([r".*test_orders: 2 seeds, .*"])


def test_pytest_starts_once_more_for_a_hash_seed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONHASHSEED")
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)
    result = run_in_subprocess(pytester, KEEPS_RULES, "--kafka-seeds", "2")
    result.assert_outcomes(passed=1)
    assert result.stderr.str().count("odradek: starting Python once more with PYTHONHASHSEED=0") == 1


def test_test_that_depends_on_more_than_its_seed_is_told(pytester: pytest.Pytester) -> None:
    tests = """
        import os
        import odradek

        parent = os.getpid()

        @odradek.simulation(seeds=4)
        async def test_orders(sim):
            assert os.getpid() == parent
    """
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patched:
        patched.setattr("os.cpu_count", lambda: 2)
        patched.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
        result = run(pytester, tests)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*seed 0 has failed and passes when it is repeated, so the test depends on more than its seed*"])


def test_arguments_that_are_wrong_are_refused() -> None:
    with pytest.raises(ValueError, match=r"seeds must be a number of seeds such as 1000, not 0"):
        simulation(seeds=0)
    with pytest.raises(ValueError, match="seeds_s must be a number of seconds above 0"):
        simulation(seeds_s=0)
    with pytest.raises(TypeError, match=r"must be `async def <lambda>\(sim\)`"):
        simulation()(lambda sim: None)  # type: ignore[arg-type, return-value]
