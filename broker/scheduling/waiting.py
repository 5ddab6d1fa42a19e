"""What a handler yields when it cannot answer at once.

A handler is a function that returns a response, or a generator that yields `Wait`s before it returns one:

    while not enough(request, context):
        if context.now_ms >= deadline_ms:
            break
        yield Wait((partition,), deadline_ms)
    return FetchResponse(...)

The core resumes the generator when one of the keys is woken or the deadline has come, and the handler looks again. When the
connection closes, the generator is closed, so a `finally:` can withdraw what the handler left with others.

A handler whose answer is long yields NEXT_TURN between slices of the work:

    for topics in slices(all_topics):
        response.topics += [describe(topic) for topic in topics]
        yield NEXT_TURN
    return response

Other connections are served before it is resumed, and the response of a handler that has yielded NEXT_TURN is also encoded in
slices. A slice should take about a millisecond. What a request shares with its connection's receive buffer (`context.frame`, and
record bytes in a request) must be copied before the first yield, because other requests are received there afterwards. The cluster
may change between two slices, so a handler must not keep an iterator over a live dictionary.

Work that belongs to no request uses the same queue: `cluster.background(work)` takes a generator that yields NEXT_TURN between its
slices. Its owner can end it early by closing the generator.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable
from typing import Final, Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Wait(NamedTuple):
    """Resume me when one of `keys` is woken, or at `deadline_ms` (since the Unix epoch; None: never).

    The core appends each key that is woken to `woken`, if a list is given. A handler that yields the same object again goes on waiting as
    before, which costs nothing for keys that were not woken.
    """

    keys: Iterable[Hashable]
    deadline_ms: int | None = None
    woken: list[Hashable] | None = None


NEXT_TURN: Final = Wait(())
"""Resume me in the next turn of the event loop, after other connections were served. Recognised by identity."""

Background = Generator[Wait, None, None]
"""Work in slices that answers nobody; it yields only NEXT_TURN."""


class Reply(Generic[T]):
    """An answer that a state machine gives later: it calls `set`, and the handler that waits for the reply is woken.

    A handler makes one with `context.reply()`, hands it to the state machine, and yields `Wait((reply,))` until it is `done`.
    """

    __slots__ = ("_wake", "done", "value")
    value: T

    def __init__(self, wake: Callable[[Hashable], None] = lambda key: None) -> None:
        self._wake = wake
        self.done = False

    def set(self, value: T) -> None:
        """Gives the answer; later calls change nothing."""
        if not self.done:
            self.value, self.done = value, True
            self._wake(self)
