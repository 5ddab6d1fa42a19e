"""Many seeds, side by side, and the faults that a failure needs."""

from __future__ import annotations

import asyncio

import pytest

from odradek import Simulation
from odradek.simulation import shrinking
from odradek.simulation.faults import FaultNote
from odradek.simulation.report import report_of
from odradek.simulation.seeds import Outcome, Summary, run_seed, run_seeds
from odradek.simulation.shrinking import Shrunk, shrink


async def fails_with_seed_7_and_11(sim: Simulation) -> None:
    await asyncio.sleep(1800)
    assert sim.seed not in (7, 11), f"seed {sim.seed}"


async def needs_two_faults(sim: Simulation) -> None:
    for _ in range(8):
        sim.partition("shop", "billing", after=sim.random.random())
    await asyncio.sleep(2)
    if {"partition 3", "partition 6"} <= {fault.name for fault in sim.faults.happened}:
        raise LookupError("both")


def run(seeds: int | None, seeds_s: float | None = None, processes: int = 1) -> tuple[Summary, list[int]]:
    counts: list[int] = []
    return run_seeds(fails_with_seed_7_and_11, seeds, seeds_s, lambda summary: counts.append(summary.seeds), processes), counts


def test_seeds_that_pass_are_summed_up() -> None:
    summary, counts = run(6)
    assert (summary.seeds, summary.failed, counts) == (6, None, [1, 2, 3, 4, 5, 6])
    assert str(summary).startswith("6 seeds, 3.00 virtual hours, 1 distinct schedules, ")


@pytest.mark.parametrize("processes", [1, 3])
def test_lowest_seed_that_fails_is_found(processes: int) -> None:
    summary, _ = run(1000, processes=processes)
    assert summary.failed is not None
    seed, text = summary.failed
    assert seed == 7
    assert "AssertionError: seed 7" in text
    assert 8 <= summary.seeds < 1000


def test_time_for_seeds_ends_the_runs() -> None:
    summary = run_seeds(needs_two_faults, None, 1e-9, lambda _: None, 1)
    assert summary.seeds == 0


def test_process_that_dies_is_an_error() -> None:
    async def dies(sim: Simulation) -> None:
        raise SystemExit(3)

    with pytest.raises(RuntimeError, match="a process that ran seeds has ended with exit code 3"):
        run_seeds(dies, 4, None, lambda _: None, 2)


def test_failure_keeps_only_the_faults_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrinking, "MAX_SHRINKING_S", 1000)
    failing = run_seed(needs_two_faults, 1)
    assert len(failing.faults) == 8
    shrunk = shrink(needs_two_faults, failing)
    assert [fault.name for fault in shrunk.outcome.faults] == ["partition 3", "partition 6"]
    assert isinstance(shrunk.outcome.error, LookupError)
    report = report_of(failing, shrunk, "pytest test_shop.py::test_shop --kafka-seed 1").splitlines()
    assert report[:2] == [
        "simulation: seed 1 fails after 2.000 virtual seconds",
        "  replay:  pytest test_shop.py::test_shop --kafka-seed 1",
    ]
    assert report[3] == f"  faults:  2 of 8 are needed ({shrunk.runs} runs without some of them)"
    assert report[4].endswith("shop and billing are separated (partition 3)")


def test_failure_without_faults_is_not_shrunk() -> None:
    failing = run_seed(fails_with_seed_7_and_11, 7)
    assert shrink(fails_with_seed_7_and_11, failing) == Shrunk(failing, frozenset(), 0)


def test_report_names_at_most_30_faults() -> None:
    faults = [FaultNote(f"reset {number}", number, "a reset") for number in range(40)]
    outcome = Outcome(1, 2.0, "ab", 3, faults, KeyError())
    assert report_of(outcome, Shrunk(outcome, frozenset(), 9), "pytest").splitlines()[-1] == "    and 10 more"
