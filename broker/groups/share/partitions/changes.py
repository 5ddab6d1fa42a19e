"""A set of changes of acquired records that is stored as a whole, or reverted as a whole."""

from __future__ import annotations

from .record_state import TERMINAL, Claim, RecordState
from .state_batches import StateBatch
from .window import Window


class Changes:
    """The ends of acquisitions in one step. They take effect at once, so that a record cannot be acknowledged twice in one request."""

    def __init__(self, window: Window, delivery_limit: int) -> None:
        self._window = window
        self._delivery_limit = delivery_limit
        self._done: list[tuple[int, int, int, Claim, Claim]] = []
        """(index of the batch, first offset, last offset, former state, new state)."""

    def __bool__(self) -> bool:
        return bool(self._done)

    def end(self, index: int, first: int, last: int, claim: Claim, state: RecordState) -> None:
        """Ends the acquisition of some offsets of a batch, all of which are acquired by the same member."""
        window, ended = self._window, claim.ended(state, self._delivery_limit)
        window.in_flight.set(index, first, last, ended)
        self._done.append((index, first, last, claim, ended))
        if ended.state in TERMINAL:
            window.complete_count += window.count_from_start(first, last)

    @property
    def batches(self) -> list[StateBatch]:
        """The changed ranges, as they are stored."""
        return [StateBatch(first, last, ended.state, ended.delivery_count) for _, first, last, _, ended in self._done]

    def commit(self) -> bool:
        """Makes the records that became available acquirable, and moves the start offset. Returns whether it has moved."""
        if any(ended.state == RecordState.AVAILABLE for *_, ended in self._done):
            self._window.find_next = True
        return self._window.advance()

    def revert(self) -> None:
        """Restores the former states. Batches that keep runs continue to do so."""
        window = self._window
        for index, first, last, claim, ended in reversed(self._done):
            window.in_flight.set(index, first, last, claim)
            if ended.state in TERMINAL:
                window.complete_count -= window.count_from_start(first, last)
