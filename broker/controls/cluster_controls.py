"""All controls of a cluster, as asynchronous methods and as blocking ones.

A new family of controls is a class in a module of its own. It becomes a base of `ClusterControls`, and `BlockingControls` gets one line for
each of its methods.
"""

from __future__ import annotations

from .clock import AsyncClock, Clock
from .declaration import Blocking, blocking
from .nodes import NodeControls


class ClusterControls(NodeControls):
    """The controls as coroutines, for the event loop on which the cluster runs."""

    @property
    def clock(self) -> AsyncClock:
        """The cluster's time."""
        return AsyncClock(self)


class BlockingControls(Blocking):
    """The controls as methods that return when they are done, for other threads than the cluster's."""

    @property
    def clock(self) -> Clock:
        """The cluster's time."""
        return Clock(AsyncClock(self._controls), self._run)

    stop_node = blocking(NodeControls.stop_node)
    start_node = blocking(NodeControls.start_node)
