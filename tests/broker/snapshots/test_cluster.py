"""The state of a cluster: restoring it reproduces every attribute, whatever happened before and after it was written.

The steps are those of the fuzzer, so all APIs, nodes that stop, and time that passes contribute to the state.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from random import SystemRandom
from typing import Any

import pytest

from odradek.broker.snapshots.cluster import write_cluster
from odradek.storage.segments import Segment
from tests.broker.harness import World
from tests.fuzz.batches import Batches
from tests.fuzz.player import Advance, Player, Restore, TakeSnapshot, captured_errors
from tests.fuzz.rounds import NODES, SETTINGS, Round, warm_up

SEED = SystemRandom().getrandbits(32)
ROUNDS = 2 * len(NODES) * len(SETTINGS) // 5
STEPS = 120


@pytest.fixture(scope="module")
def batches() -> Batches:
    return warm_up(SEED)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_restore_after_random_steps_reproduces_everything(batches: Batches, number: int) -> None:
    """`Player` compares all attributes after each `Restore`, and checks the restored cluster in the steps that follow."""
    played = Round(SEED, number, batches)
    with captured_errors(logging.INFO) as errors:
        player = Player(played.setting, errors, timed=False)
        for _ in range(2):
            _play(played, player)
            played.play(player, TakeSnapshot())
            _play(played, player)
            played.play(player, Advance(90_000))
            played.play(player, Restore())
        _play(played, player)
        played.play(player, Restore())


def _play(played: Round, player: Player) -> None:
    for _ in range(STEPS):
        played.play(player, played.next_step(player))


PLAIN_TYPES = (type(None), bool, int, float, str, bytes, Segment)


def test_written_state_consists_of_plain_values(batches: Batches) -> None:
    played = Round(SEED, 0, batches)
    with captured_errors() as errors:
        player = Player(played.setting, errors, timed=False)
        for _ in range(3):
            _play(played, player)
            assert list(_not_plain(write_cluster(player.world.cluster))) == []


def _not_plain(value: Any, path: str = "") -> Iterator[str]:
    if type(value) is dict:
        for name, item in value.items():
            assert type(name) is str, path
            yield from _not_plain(item, f"{path}.{name}")
    elif type(value) is list:
        for number, item in enumerate(value):
            yield from _not_plain(item, f"{path}.{number}")
    elif type(value) not in PLAIN_TYPES:
        yield f"{path}: {value!r}"


def test_restored_quotas_are_enforced_again() -> None:
    world = World(1)
    world.cluster.alter_quotas((("client-id", "c"),), {"producer_byte_rate": 1.0}, validate_only=False)
    state = write_cluster(world.cluster)
    world.cluster.alter_quotas((("client-id", "c"),), {"producer_byte_rate": None}, validate_only=False)
    assert world.core.gate is None
    world.restore(state)
    assert world.core.gate is world.core.throttle
