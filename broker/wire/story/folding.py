"""Folds the steps of a story: cycles that a client repeats, and what it does in the background."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .steps import StoryStep

MIN_REPETITIONS = 3
MAX_CYCLE_LENGTH = 6
"""The most steps of a cycle, such as a fetch, a write and a commit."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Steps of one client that one line stands for. Steps in the background may differ; all others look the same."""

    steps: Sequence[StoryStep]

    @property
    def first(self) -> StoryStep:
        return self.steps[0]

    @property
    def last(self) -> StoryStep:
        return self.steps[-1]


def fold_steps(steps: Iterable[StoryStep]) -> list[Fold]:
    """Returns the lines of a story in the order in which they begin. Eras are folded by themselves."""
    return [fold for era in _eras(steps) for fold in sorted(_fold_era(era), key=lambda fold: fold.first.sequence)]


def _eras(steps: Iterable[StoryStep]) -> Iterator[list[StoryStep]]:
    era: list[StoryStep] = []
    for step in steps:
        if step.begins_era:
            yield era
            era = []
        era.append(step)
    yield era


def _fold_era(steps: Sequence[StoryStep]) -> Iterator[Fold]:
    by_client: dict[tuple[str, bool], list[StoryStep]] = {}
    for step in steps:
        by_client.setdefault((step.client, step.is_background), []).append(step)
    for (_, is_background), of_client in by_client.items():
        yield from [Fold(of_client)] if is_background else _cycles(of_client)


def _cycles(steps: Sequence[StoryStep]) -> Iterator[Fold]:
    """Yields one fold for each step of a cycle that is repeated, and one for each other step."""
    looks = [step.look for step in steps]
    position = 0
    while position < len(steps):
        length, count = _longest_run(looks, position)
        end = position + length * count
        for offset in range(length):
            yield Fold(steps[position + offset : end : length])
        position = end


def _longest_run(looks: Sequence[object], start: int) -> tuple[int, int]:
    """Returns the length of the cycle that begins at `start`, and how often it is there; a cycle that is not repeated is one step."""
    for length in range(1, MAX_CYCLE_LENGTH + 1):
        cycle, count = looks[start : start + length], 1
        while looks[start + length * count : start + length * (count + 1)] == cycle:
            count += 1
        if count >= MIN_REPETITIONS and len(cycle) == length:
            return length, count
    return 1, 1
