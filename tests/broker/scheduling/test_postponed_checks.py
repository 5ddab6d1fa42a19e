"""Checks that are left out while the time moves, of a whole cluster: how few run, and that nothing else changes."""

from __future__ import annotations

import pytest

from odradek.broker.scheduling.timers import Timers
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import START_MS, World, produce_request
from tests.fuzz.batches import Batches
from tests.fuzz.player import Advance, Player, captured_errors
from tests.fuzz.rounds import Round, warm_up
from tests.state import changes, everything

DAY_MS = 86_400_000
TEN_YEARS_MS = 3650 * DAY_MS
SEED = 20_261_123
BATCH = bytes(build_batch([Record(0, START_MS, b"key", b"value", [])]))


def firings(world: World, milliseconds: int) -> list[str]:
    """Moves the time and returns the keys of the timers that fired, in order."""
    fired: list[str] = []
    timers, run_next = world.timers, world.timers._run_next

    def counted(deadline_ms: int) -> None:
        fired.append(str(timers._heap[0][2]))
        run_next(deadline_ms)

    timers._run_next = counted  # type: ignore[method-assign]
    world.advance(milliseconds)
    timers._run_next = run_next  # type: ignore[method-assign]
    return fired


@pytest.mark.parametrize(("policy", "expires"), [("delete", True), ("compact", False), ("compact,delete", True)])
def test_ten_years_over_filled_partitions_run_one_check(policy: str, expires: bool) -> None:
    world = World(nodes=1, settings={"connections.max.idle.ms": "-1"})
    world.cluster.topics.create("t", 1000, configs={"cleanup.policy": policy})
    client = world.client()
    for partition in range(1000):
        client.call(PRODUCE, 9, produce_request("t", BATCH, partition=partition))
    assert firings(world, 6 * DAY_MS) == []
    assert [key for key in firings(world, TEN_YEARS_MS) if key.startswith("log")] == ["log retention"] * expires
    assert {partition.log.size == 0 for partition in world.cluster.topics["t"].partitions} == {expires}


@pytest.fixture(scope="module")
def batches() -> Batches:
    return warm_up(SEED)


def played_world(number: int, batches: Batches) -> World:
    """Returns a cluster after random steps with jumps of the clock in between."""
    played = Round(SEED, number, batches)
    with captured_errors() as errors:
        player = Player(played.setting, errors, timed=False)
        for jump_ms in (20_000, 700_000, 3 * 3_600_000, 8 * DAY_MS, 1):
            for _ in range(60):
                played.play(player, played.next_step(player))
            played.play(player, Advance(jump_ms))
    return player.world


def next_deadline(timers: Timers, until_ms: float) -> int | None:
    """Replaces `Timers.next_event`, and leaves out nothing."""
    deadline_ms = timers.next_deadline()
    return deadline_ms if deadline_ms is not None and deadline_ms <= until_ms else None


@pytest.mark.parametrize("number", range(4))
def test_random_steps_lead_to_the_state_of_unpostponed_checks(number: int, batches: Batches, monkeypatch: pytest.MonkeyPatch) -> None:
    state = everything(played_world(number, batches).cluster)
    monkeypatch.setattr(Timers, "next_event", next_deadline)
    expected = everything(played_world(number, batches).cluster)
    # A pass that takes place notes in `settled_end` that it need not look at a partition again, and computes segments.
    computed = (".settled_end:", ".virtual_segments._")
    assert [change for change in changes(state, expected) if not any(name in change for name in computed)] == []


@pytest.mark.parametrize("number", range(4))
def test_ten_years_after_random_steps_fire_few_timers(number: int, batches: Batches) -> None:
    world = played_world(number, batches)
    timers = len(world.timers)
    assert len(firings(world, TEN_YEARS_MS)) <= 3 * timers + 10
