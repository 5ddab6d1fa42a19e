"""All controls of a cluster, as asynchronous methods and as blocking ones.

A new family of controls is a class in a module of its own. It becomes a base of `ClusterControls`, and `BlockingControls` gets one line for
each of its methods.
"""

from __future__ import annotations

from .declaration import blocking
from .nodes import NodeControls
from .state import StateControls


class ClusterControls(NodeControls, StateControls):
    """The controls as coroutines, for the event loop on which the cluster runs."""


class BlockingControls:
    """The controls as methods that return when they are done, for other threads than the cluster's."""

    stop_node = blocking(NodeControls.stop_node)
    start_node = blocking(NodeControls.start_node)

    snapshot = blocking(StateControls.snapshot)
    restore = blocking(StateControls.restore)
    close_snapshot = blocking(StateControls.close_snapshot)
    snapshots = blocking(StateControls.snapshots)
    reset = blocking(StateControls.reset)
    save = blocking(StateControls.save)
