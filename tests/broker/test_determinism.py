"""With a seed and virtual time, the same requests get the same responses, events and timers, byte by byte, in every process.

Random requests to all APIs are generated once. They are then sent to clusters in other processes, in which sets and dictionaries of other
types than `dict` have other orders because of another PYTHONHASHSEED.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from random import SystemRandom
from typing import Any

import pytest

from odradek.broker.wire.exchange import Event
from odradek.protocol.messages import APIS
from tests.fuzz import player
from tests.fuzz.answers import DecodedAnswer
from tests.fuzz.player import Feed, LoggedErrors, Player, Setting, Step, captured_errors
from tests.fuzz.rounds import Round, setting_of, warm_up

SEED = SystemRandom().getrandbits(32)
ROUNDS, STEPS = 6, 700
HASH_SEEDS = ("0", "1", "2")
ROOT = Path(__file__).parents[2]


class RecordingPlayer(Player):
    """Computes a digest of what each step causes: the responses, the events of the record, and the deadlines of all timers."""

    def __init__(self, setting: Setting, logged_errors: LoggedErrors) -> None:
        self.digests: list[str] = []
        super().__init__(setting, logged_errors, timed=False)
        self._next_entry = 0

    def _answers(self) -> list[tuple[int, DecodedAnswer]]:
        digest = hashlib.sha256(b"".join(bytes(client.sent) for client in self.clients))
        for line in (*self._events(), *(f"{delay_ms}" for _, delay_ms in self.world.timers.remaining())):
            digest.update(f"{line}\n".encode())
        self.digests.append(digest.hexdigest()[:16])
        return super()._answers()

    def _events(self) -> list[str]:
        """Returns the events since the last call, with the time of the cluster."""
        if (record := self.world.core.record) is None:
            return []
        entries = list(record.entries(self._next_entry))
        self._next_entry = record.next_sequence
        events = [entry for entry in entries if isinstance(entry, Event)]
        return [f"{event.at.cluster_ms} {event.kind} {event.text} {event.node}" for event in events]


def replayed(number: int, steps: list[Step]) -> list[str]:
    """Returns the digests of the steps of a new cluster."""
    with captured_errors() as errors:
        repeating = RecordingPlayer(setting_of(number), errors)
        for step in steps:
            repeating.play(step)
    return repeating.digests


def as_json(steps: list[Step]) -> list[Any]:
    return [[type(step).__name__, *(part.hex() if isinstance(part, bytes) else part for part in step)] for step in steps]


def from_json(steps: list[Any]) -> list[Step]:
    kinds = {kind.__name__: kind for kind in player.Step.__args__}
    return [Feed(parts[0], bytes.fromhex(parts[1]), parts[2]) if kind == "Feed" else kinds[kind](*parts) for kind, *parts in steps]


def replay_from_standard_input() -> None:
    for number, steps in enumerate(json.load(sys.stdin)):
        sys.stdout.write(json.dumps(replayed(number, from_json(steps))) + "\n")


@pytest.fixture(scope="module")
def rounds() -> list[Round]:
    """Returns rounds that were played, which together contain all APIs."""
    batches = warm_up(SEED)
    played = [Round(SEED, number, batches) for number in range(ROUNDS)]
    for each in played:
        with captured_errors() as errors:
            first = Player(each.setting, errors, timed=False)
            for _ in range(STEPS):
                each.play(first, each.next_step(first))
    return played


RARE = {"UnregisterBroker"}  # because most others are refused afterwards


def test_generated_requests_are_to_all_apis(rounds: list[Round]) -> None:
    answered = {name for each in rounds for name in each.answered}
    assert {api.name for api in APIS.values()} - answered <= RARE, f"seed {SEED}"


@pytest.mark.parametrize("hash_seed", HASH_SEEDS)
def test_responses_and_timers_are_alike_in_processes(rounds: list[Round], hash_seed: str) -> None:
    expected = [replayed(each.number, each.steps) for each in rounds]
    program = "from tests.broker.test_determinism import replay_from_standard_input as replay; replay()"
    environ = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    data = json.dumps([as_json(each.steps) for each in rounds])
    run = subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environ, input=data, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    for each, digests, line in zip(rounds, expected, run.stdout.splitlines(), strict=True):
        different = [number for number, pair in enumerate(zip(digests, json.loads(line), strict=True)) if pair[0] != pair[1]]
        assert not different, f"seed {SEED}, round {each.number}: {each.steps[different[0]]!r}"
