"""`repr` of bounded length for log entries. Requests may be large, so only the part that is shown is formatted.

Secrets in requests are not shown.
"""

from __future__ import annotations

from reprlib import Repr

from ..protocol.schema import Message, specs

MAX_CHARACTERS = 1024
SECRET_FIELDS = {"auth_bytes", "hmac", "salted_password", "value"}
"""Fields of requests that may contain passwords and keys; `value` is that of a setting."""
HIDDEN = "[hidden]"


class _ShortRepr(Repr):
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
        # A message that is still being built may lack attributes.
        values = ", ".join(
            f"{spec.name}={HIDDEN if spec.name in SECRET_FIELDS else self.repr1(getattr(x, spec.name, None), level - 1)}"
            for spec in specs(type(x))
        )
        return f"{type(x).__name__}({values})"

    def repr_bytes(self, x: bytes, _level: int) -> str:
        return repr(x) if len(x) <= self.maxstring else f"{x[: self.maxstring]!r}... {len(x)} bytes"


_REPR = _ShortRepr()


def short_repr(value: object) -> str:
    """Returns the `repr` of a message, a list or a plain value, cut to MAX_CHARACTERS characters."""
    text = _REPR.repr(value)
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 3] + "..."
