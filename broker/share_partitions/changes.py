"""A set of changes of acquired records that is stored as a whole, or reverted as a whole.

A change ends the acquisition of some records. They can be neither acknowledged again nor acquired before `commit`, which is called when the
change is stored: Kafka stores it on another broker, so that the fetch which releases records does not acquire them again itself.
"""

from __future__ import annotations

from .record_state import TERMINAL, Claim, RecordState
from .state_batches import StateBatch
from .window import Window

_RELEASING = Claim(RecordState.ACQUIRED, 0)
"""The state of records between the end of their acquisition and the commit after which they are available."""


class Changes:
    """The ends of acquisitions in one step."""

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
        window.in_flight.set(index, first, last, _RELEASING if ended.state == RecordState.AVAILABLE else ended)
        self._done.append((index, first, last, claim, ended))
        if ended.state in TERMINAL:
            window.complete_count += window.count_from_start(first, last)

    @property
    def batches(self) -> list[StateBatch]:
        """The changed ranges, as they are stored."""
        return [StateBatch(first, last, ended.state, ended.delivery_count) for _, first, last, _, ended in self._done]

    def commit(self) -> bool:
        """Makes the records that became available acquirable, and moves the start offset. Returns whether it has moved."""
        window = self._window
        for index, first, last, _, ended in self._done:
            if ended.state == RecordState.AVAILABLE:
                window.in_flight.set(index, first, last, ended)
                window.find_next = True
        return window.advance()

    def revert(self) -> None:
        """Restores the former states. Batches that keep runs continue to do so."""
        window = self._window
        for index, first, last, claim, ended in reversed(self._done):
            window.in_flight.set(index, first, last, claim)
            if ended.state in TERMINAL:
                window.complete_count -= window.count_from_start(first, last)
