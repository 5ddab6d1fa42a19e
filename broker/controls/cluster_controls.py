"""All controls of a cluster, as asynchronous methods and as blocking ones.

A new family of controls is a class in a module of its own. It becomes a base of `ClusterControls`, and `BlockingControls` gets one line for
each of its methods.
"""

from __future__ import annotations

from .clock import AsyncClock, Clock
from .connections import ConnectionControls
from .declaration import blocking
from .groups import GroupControls
from .nodes import NodeControls
from .records import RecordControls
from .state import StateControls
from .transactions import TransactionControls
from .waiting import BlockingWaitControls, WaitControls


class ClusterControls(NodeControls, RecordControls, GroupControls, TransactionControls, ConnectionControls, StateControls, WaitControls):
    """The controls as coroutines, for the event loop on which the cluster runs."""

    @property
    def clock(self) -> AsyncClock:
        """The cluster's time."""
        return AsyncClock(self)


class BlockingControls(BlockingWaitControls):
    """The controls as methods that return when they are done, for other threads than the cluster's."""

    @property
    def clock(self) -> Clock:
        """The cluster's time."""
        return Clock(AsyncClock(self._controls), self._run)

    stop_node = blocking(NodeControls.stop_node)
    start_node = blocking(NodeControls.start_node)

    create_topic = blocking(RecordControls.create_topic)
    delete_topic = blocking(RecordControls.delete_topic)
    topics = blocking(RecordControls.topics)
    produce = blocking(RecordControls.produce)
    records = blocking(RecordControls.records)
    wait_for_records = blocking(RecordControls.wait_for_records)

    groups = blocking(GroupControls.groups)
    group = blocking(GroupControls.group)
    wait_for_group = blocking(GroupControls.wait_for_group)

    transactions = blocking(TransactionControls.transactions)
    connections = blocking(ConnectionControls.connections)

    snapshot = blocking(StateControls.snapshot)
    restore = blocking(StateControls.restore)
    close_snapshot = blocking(StateControls.close_snapshot)
    snapshots = blocking(StateControls.snapshots)
    reset = blocking(StateControls.reset)
    save = blocking(StateControls.save)
