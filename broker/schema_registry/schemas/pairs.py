"""Compares two schemas part by part, depth first, without recursion, because parts may refer to each other in cycles of any length."""

from __future__ import annotations

from collections.abc import Generator
from typing import Generic, TypeVar

from .schema import MAX_COMPARISONS, MAX_MESSAGES, ComparisonTooLarge

PartT = TypeVar("PartT")
FoundT = TypeVar("FoundT")

Pair = tuple[int, int]
"""The identities of two parts."""

Request = tuple[PartT, PartT, tuple[str, ...]]
Steps = Generator[Request[PartT], list[FoundT], list[FoundT]]
"""The comparison of a pair: it yields other pairs with their paths, is sent what was found for each, and returns what was found."""


class PairComparison(Generic[PartT, FoundT]):
    """Compares each pair once. A subclass says how, and what to assume of a pair that is met again while it is being compared."""

    def __init__(self) -> None:
        self.results: dict[Pair, list[FoundT]] = {}

    def compare_pair(self, first: PartT, second: PartT, path: tuple[str, ...]) -> Steps[PartT, FoundT] | list[FoundT]:
        """Returns the incompatibilities of a pair, or the steps to them if they depend on other pairs."""
        raise NotImplementedError

    def assume(self, pair: Pair) -> list[FoundT]:  # noqa: ARG002 - the pair is for subclasses
        """Returns what is assumed of a pair that is being compared: that it is compatible."""
        return []

    def compare(self, first: PartT, second: PartT, path: tuple[str, ...] = ()) -> list[FoundT]:
        """Returns the incompatibilities of a pair. Raises `ComparisonTooLarge` after `MAX_COMPARISONS` pairs."""
        in_progress: dict[Pair, Steps[PartT, FoundT]] = {}
        request = (first, second, path)
        while True:
            pair = (id(request[0]), id(request[1]))
            if pair in self.results:
                answer: list[FoundT] | None = self.results[pair]
            elif pair in in_progress:
                answer = self.assume(pair)
            else:
                if len(self.results) + len(in_progress) >= MAX_COMPARISONS:
                    raise ComparisonTooLarge
                answer = None
                steps = self.compare_pair(*request)
                if isinstance(steps, list):
                    answer = self.results[pair] = steps
                else:
                    in_progress[pair] = steps
            next_request = self._advance(in_progress, answer)
            if next_request is None:
                return self.results[id(first), id(second)]
            request = next_request

    def _advance(self, in_progress: dict[Pair, Steps[PartT, FoundT]], answer: list[FoundT] | None) -> Request[PartT] | None:
        """Sends the answer to the innermost pair, and what that returns to the next one. Returns the pair that is needed next, if any."""
        while in_progress:
            pair = next(reversed(in_progress))
            try:
                return in_progress[pair].send(answer)  # type: ignore[arg-type]  # None starts a generator
            except StopIteration as done:
                del in_progress[pair]
                answer = self.results[pair] = done.value[:MAX_MESSAGES]
        return None
