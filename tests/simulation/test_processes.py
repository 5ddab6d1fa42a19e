"""A seed has one history in every process with the same hash seed, and scripts get one by starting once more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from odradek.simulation import hash_seed
from odradek.simulation.seeds import Test, run_seed
from tests.campaign.scenario import scenario
from tests.campaign.service import service

pytestmark = pytest.mark.clients

ROOT = Path(__file__).parents[2]
SEEDS: dict[Test, int] = {scenario: 1, service: 10}
SCRIPT = """
import odradek

async def main(sim):
    cluster = await sim.cluster(topics={"orders": 1})
    await cluster.produce("orders", ["one"])
    return len(await cluster.records("orders"))

with odradek.simulate(seed=7) as run:
    print(run(main(run)), hash("orders"))
"""


def print_traces() -> None:
    """Prints the traces of the first seeds of both scenarios, each with its number of events."""
    for test, seeds in SEEDS.items():
        for seed in range(seeds):
            outcome = run_seed(test, seed)
            print(outcome.trace, outcome.events, outcome.now_s, outcome.error)  # noqa: T201


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONHASHSEED"}
    environ |= {"PYTHONPATH": os.pathsep.join(sys.path), **variables}
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environ, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_seeds_have_the_same_traces_in_two_processes() -> None:
    program = "from tests.simulation.test_processes import print_traces; print_traces()"
    first, second = (python("-c", program, PYTHONHASHSEED="5") for _ in range(2))
    assert first.stdout == second.stdout, first.stderr
    lines = first.stdout.splitlines()
    assert len(lines) == len(set(lines)) == sum(SEEDS.values())
    assert all(line.endswith(" None") for line in lines)


def test_script_starts_once_more_with_a_hash_seed(tmp_path: Path) -> None:
    script = tmp_path / "orders.py"
    script.write_text(SCRIPT)
    first, second = python(str(script)), python(str(script))
    assert (first.stdout, first.stderr) == (second.stdout, hash_seed.LINE)
    assert first.stdout.startswith("1 ")
    fixed = python(str(script), PYTHONHASHSEED="3")
    assert (fixed.stdout.split()[0], fixed.stderr) == ("1", "")
