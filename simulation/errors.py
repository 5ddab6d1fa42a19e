"""The errors of a simulation. Each says what to write instead."""

from __future__ import annotations


class SimulationError(RuntimeError):
    """The program does something that a simulation cannot repeat from its seed. The run ends, even if the program catches the error."""


class Deadlock(SimulationError):
    """The loop has neither work nor a timer, so that the program would wait for ever."""


class Livelock(SimulationError):
    """The program runs without ever letting the time pass."""


class Hung(SimulationError):
    """The program has not ended within the virtual time that it was given."""


class InvariantViolated(AssertionError):
    """A function that was given to `always` has raised an exception, or has returned False."""
