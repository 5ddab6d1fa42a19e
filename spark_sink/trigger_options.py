"""Parses the options that limit how much one batch of a stream reads."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .user_options import INT64_MAX, UserOptions

UNITS_MS = {"us": 0.001, "ms": 1, "": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True)
class TriggerOptions:
    """Limits for all partitions together, in offsets; None stands for no limit."""

    max_offsets: int | None
    min_offsets: int | None
    max_delay_ms: int


NO_LIMIT = TriggerOptions(max_offsets=None, min_offsets=None, max_delay_ms=900_000)


def trigger_options(options: UserOptions) -> TriggerOptions:
    """Parses the limits. Raises ValueError."""
    least, most = _offsets(options, "minOffsetsPerTrigger"), _offsets(options, "maxOffsetsPerTrigger")
    if least is not None and most is not None and least > most:
        raise ValueError(f"The value of minOffsetsPerTrigger({least}) is higher than the maxOffsetsPerTrigger({most}).")
    return TriggerOptions(max_offsets=most, min_offsets=least, max_delay_ms=_duration_ms(options, "maxTriggerDelay", "15m"))


def _offsets(options: UserOptions, name: str) -> int | None:
    return options.integer(name, 0, -INT64_MAX, INT64_MAX) if name in options else None


def _duration_ms(options: UserOptions, name: str, default: str) -> int:
    value = options.text(name, default).lower()
    found = re.fullmatch(r"(\d+)([a-z]*)", value)
    if not found or found[2] not in UNITS_MS:
        raise ValueError(f"Time must be specified as a number of us, ms, s, m, min, h or d, such as 50s; got {value} (option {name!r})")
    return int(int(found[1]) * UNITS_MS[found[2]])
