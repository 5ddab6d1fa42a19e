"""Texts of bounded length for values of any size, made without looking at all of a value."""

from __future__ import annotations

from reprlib import Repr

from ..protocol.schema import Message, specs

ABRIDGED_CHARACTERS = 1024


class _AbridgedRepr(Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxdict = self.maxtuple = 4
        self.maxstring = self.maxother = 100

    def repr1(self, x: object, level: int) -> str:
        if isinstance(x, Message):
            return self._message(x, level)
        return super().repr1(x, level)

    def _message(self, x: Message, level: int) -> str:
        if level <= 0:
            return f"{type(x).__name__}(...)"
        # A message that a handler made half may lack attributes.
        values = ", ".join(f"{spec.name}={self.repr1(getattr(x, spec.name, None), level - 1)}" for spec in specs(type(x)))
        return f"{type(x).__name__}({values})"

    def repr_bytes(self, x: bytes, level: int) -> str:
        return repr(x) if len(x) <= self.maxstring else f"{x[: self.maxstring]!r}... {len(x)} bytes"


_REPR = _AbridgedRepr()


def abridged(value: object) -> str:
    """What `repr` says of a message, a list or a plain value, in at most ABRIDGED_CHARACTERS characters."""
    text = _REPR.repr(value)
    return text if len(text) <= ABRIDGED_CHARACTERS else text[: ABRIDGED_CHARACTERS - 3] + "..."
