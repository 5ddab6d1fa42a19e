"""Folding the steps of a story."""

from __future__ import annotations

from odradek.broker.wire.story.folding import fold_steps
from odradek.broker.wire.story.steps import StoryStep


def steps(texts: str, client: str = "a", **values: bool) -> list[StoryStep]:
    return [StoryStep(number, number, client, "node 1", text, str(number), **values) for number, text in enumerate(texts)]


def shape(texts: str) -> list[tuple[str, int]]:
    return [(fold.first.text, len(fold.steps)) for fold in fold_steps(steps(texts))]


def test_repetitions_are_one_fold() -> None:
    assert shape("aaab") == [("a", 3), ("b", 1)]
    assert shape("aab") == [("a", 1), ("a", 1), ("b", 1)]


def test_cycles_are_one_fold_for_each_of_their_steps() -> None:
    assert shape("xabcabcabcy") == [("x", 1), ("a", 3), ("b", 3), ("c", 3), ("y", 1)]
    assert shape("ababababz") == [("a", 4), ("b", 4), ("z", 1)]


def test_numbers_of_results_may_differ_and_others_not() -> None:
    assert shape("aaa") == [("a", 3)]
    different = [StoryStep(number, 0, "a", "node 1", "a", result) for number, result in enumerate(("x", "y", "z"))]
    assert len(fold_steps(different)) == 3


def test_background_of_a_client_is_one_fold() -> None:
    background = steps("hfhf", is_background=True)
    assert [len(fold.steps) for fold in fold_steps([*background, *steps("w"), *steps("hh", client="b", is_background=True)])] == [4, 1, 2]


def test_eras_are_folded_by_themselves() -> None:
    clock = StoryStep(10, 10, "", "", "clock", begins_era=True)
    found = fold_steps([*steps("aaa"), clock, *[StoryStep(20 + each, 0, "a", "node 1", "a") for each in range(3)]])
    assert [(fold.first.text, len(fold.steps)) for fold in found] == [("a", 3), ("clock", 1), ("a", 3)]
