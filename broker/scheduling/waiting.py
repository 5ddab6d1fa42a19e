"""The values that a handler yields when it cannot respond at once.

A handler is a function that returns a response, or a generator that yields `Wait`s before it returns one:

    while not enough(request, context):
        if context.now_ms >= deadline_ms:
            break
        yield Wait((partition,), deadline_ms)
    return FetchResponse(...)

The generator is resumed when one of the keys is woken or the deadline has passed (`turns.py` wakes keys, `connections/` resumes requests),
and the handler checks its condition again. When the connection closes, the generator is closed, so that a `finally` clause can release
what the handler has registered elsewhere.

A handler whose response is long yields NEXT_TURN between slices of the work:

    for topics in slices(all_topics):
        response.topics += [describe(topic) for topic in topics]
        yield NEXT_TURN
    return response

Other connections are served before the handler is resumed, and the response of a handler that has yielded NEXT_TURN is also encoded in
slices. A slice should take about a millisecond. Bytes that a request shares with its connection's receive buffer (`context.frame` and
record bytes) must be copied before the first yield, because the buffer is then used for other requests. The cluster may change between
two slices, so a handler must not keep an iterator over a live dictionary.

Work that belongs to no request uses the same queue: `cluster.background(work)` takes a generator that yields NEXT_TURN between its
slices. Closing the generator ends the work early.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable
from typing import Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Wait(NamedTuple):
    """Yielded by a handler to be resumed when one of `keys` is woken, or at `deadline_ms` (since the Unix epoch; None: no deadline).

    If `woken` is a list, each key that is woken is appended to it. A handler that yields the same object again stays registered, which
    costs nothing for the keys that were not woken. `what` says in words what is waited for, unless it is records of partitions.
    """

    keys: Iterable[Hashable]
    deadline_ms: int | None = None
    woken: list[Hashable] | None = None
    what: str = ""


NEXT_TURN: Final = Wait(())
"""Yielded by a handler to be resumed in the next turn of the event loop, after other connections have been served. Compared by identity."""

Background = Generator[Wait, None, None]
"""Work in slices that belongs to no request. It yields only NEXT_TURN."""


class Reply(Generic[T]):
    """A value that a state machine sets later. Setting it wakes the handler that waits for it.

    A handler creates a reply with `context.reply()`, passes it to the state machine, and yields `Wait((reply,))` until it is `done`.
    """

    __slots__ = ("_wake", "done", "value")
    value: T

    def __init__(self, wake: Callable[[Hashable], None] = lambda key: None) -> None:
        self._wake = wake
        self.done = False

    def set(self, value: T) -> None:
        """Sets the value and wakes the handler. Later calls have no effect."""
        if not self.done:
            self.value, self.done = value, True
            self._wake(self)
