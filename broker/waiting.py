"""What a handler that cannot answer yet waits for.

A handler is a function that returns a response, or a generator that yields `Wait`s before it returns one:

    while not enough(request, context):
        if context.now_ms >= deadline_ms:
            break
        yield Wait((partition,), deadline_ms)
    return FetchResponse(...)

It is resumed when one of the keys is woken or the deadline has come, and looks again. When its connection closes, the
generator is closed, so a `finally:` withdraws what it left with others.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Wait(NamedTuple):
    """Resume me when one of `keys` is woken, or at `deadline_ms` (since the Unix epoch; None: never)."""

    keys: Iterable[Hashable]
    deadline_ms: int | None = None


class Reply(Generic[T]):
    """The answer that somebody else will give: a state machine calls `set`, the handler that waits for it is woken.

    Handlers make one with `context.reply()`, hand it to the state machine, and yield `Wait((reply,))` until it is `done`.
    """

    __slots__ = ("_wake", "done", "value")
    value: T

    def __init__(self, wake: Callable[[Hashable], None] = lambda key: None) -> None:
        self._wake = wake
        self.done = False

    def set(self, value: T) -> None:
        """Gives the answer; the first one counts."""
        if not self.done:
            self.value, self.done = value, True
            self._wake(self)
