"""The types of the parameters that several controls have, with their help texts and units."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated

from ..control_errors import InvalidControl
from ..snapshots.handle import Snapshot

UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}

NodeId = Annotated[int, "the id of a node"]
TopicName = Annotated[str, "the name of a topic"]
PartitionIndex = Annotated[int, "the index of a partition"]
GroupId = Annotated[str, "the id of a group"]
TimeoutS = Annotated[float, "how long to wait at most, in seconds of the wall clock"]
SnapshotId = Annotated[Snapshot | int, "the id of a snapshot"]
Duration = Annotated[timedelta | float | str, "a duration: a number of seconds, or a number with ms, s, m, h, d or w, such as 10m"]

Moment = datetime | str | int
"""A time of the cluster, also in ISO 8601: without a time zone it is local time, and a number is milliseconds since the Unix epoch."""


def moment_ms(moment: Moment) -> float:
    """Returns a time in milliseconds since the Unix epoch. Raises ValueError for text that is not a time."""
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    return moment.timestamp() * 1000 if isinstance(moment, datetime) else moment


def duration_ms(parameter: str, duration: timedelta | float | str) -> float:
    """Returns a duration in milliseconds. Raises InvalidControl unless it is positive and finite."""
    if isinstance(duration, timedelta):
        milliseconds = duration / timedelta(milliseconds=1)
    elif isinstance(duration, str):
        milliseconds = _parse_ms(parameter, duration)
    else:
        milliseconds = duration * 1000
    if not 0 <= milliseconds < float("inf"):
        raise InvalidControl(parameter, f"a duration must not be negative or infinite, but it is {duration}")
    return milliseconds


def duration_text(milliseconds: float) -> str:
    """Returns a duration in the largest units that express it exactly, such as "8 d" or "1 h 30 min", without those that are 0."""
    left, parts = round(milliseconds), []
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {unit}")
    return " ".join(parts) or "0 ms"


def _parse_ms(parameter: str, text: str) -> float:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+) *([a-z]*)", text.strip())
    if match is None or (match[2] or "s") not in UNITS_MS:
        raise InvalidControl(parameter, f"invalid duration {text!r}; use a number with {', '.join(UNITS_MS)}, such as 10m")
    return float(match[1]) * UNITS_MS[match[2] or "s"]
