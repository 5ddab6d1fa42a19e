"""The limits of the record of exchanges. They are the defaults of arguments of `Cluster`, so this module imports no other."""

from __future__ import annotations

from typing import NamedTuple


class RecordLimits(NamedTuple):
    """How many exchanges, and how many bytes of them, the record keeps (`wire/record.py`). With 0, the record is switched off."""

    exchanges: int = 10_000
    bytes: int = 16 * 1024 * 1024

    @classmethod
    def of(cls, exchanges: int, size: int) -> RecordLimits:
        """Returns the limits that the arguments `record_exchanges` and `record_bytes` set. Raises ValueError."""
        for name, value in (("record_exchanges", exchanges), ("record_bytes", size)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise ValueError(f"{name} must be a number from 0 on, not {value!r}")
        return cls(exchanges, size)

    @property
    def are_positive(self) -> bool:
        """Whether anything is recorded."""
        return self.exchanges > 0 and self.bytes > 0


DEFAULT_LIMITS = RecordLimits()
