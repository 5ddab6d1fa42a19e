"""The report of a failing seed: how to replay it, the faults that it needs, and the wire in virtual time."""

from __future__ import annotations

from collections.abc import Iterator

from ..broker.plurals import counted
from ..broker.wire.diagrams.formats import FORMATS
from .environment import EPOCH_S
from .run import began_ms
from .seeds import Outcome
from .shrinking import Shrunk

MAX_FAULTS_SHOWN = 30
_DIGITS = 16


def report_of(failing: Outcome, shrunk: Shrunk, command: str) -> str:
    """Returns the report. `command` is the one that replays the seed."""
    return "\n".join(_lines(failing, shrunk, command))


def _lines(failing: Outcome, shrunk: Shrunk, command: str) -> Iterator[str]:
    outcome = shrunk.outcome
    yield f"simulation: seed {failing.seed} fails after {failing.now_s:.3f} virtual seconds"
    yield f"  replay:  {command}"
    yield f"  trace:   {failing.trace[:_DIGITS]}, {failing.events:,} events"
    faults = outcome.faults
    yield f"  faults:  {len(faults)} of {len(failing.faults)} are needed ({counted(shrunk.runs, 'run')} without some of them)"
    yield from (f"    {fault}" for fault in faults[:MAX_FAULTS_SHOWN])
    if len(faults) > MAX_FAULTS_SHOWN:
        yield f"    and {len(faults) - MAX_FAULTS_SHOWN} more"
    if outcome.entries:
        begin_s = began_ms(outcome.entries[0]) / 1000 - EPOCH_S
        yield f"  the last {len(outcome.entries)} entries of the wire with these faults, from {begin_s:.3f} virtual seconds on:"
        yield from (f"    {line}" for line in FORMATS["text"](outcome.entries).splitlines())
