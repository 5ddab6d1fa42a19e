"""All controls of a cluster, as asynchronous methods and as blocking ones.

A new class of controls has a module of its own. It becomes a base of `ClusterControls`, and `BlockingControls` gets one line for
each of its methods.
"""

from __future__ import annotations

from .access import AccessControls
from .captures import CaptureControls
from .client_metrics import ClientMetricsControls
from .clock import AsyncClock, Clock
from .connections import ConnectionControls
from .declaration import blocking
from .fault_handles import FaultHandle, blocking_fault
from .fault_points import FaultPointControls
from .fault_presets import FaultPresetControls
from .faults import FaultControls
from .groups import GroupControls
from .nodes import NodeControls
from .overview import OverviewControls
from .records import RecordControls
from .replicas import ReplicaControls
from .schemas import AsyncSchemas, Schemas
from .state import StateControls
from .transactions import TransactionControls
from .waiting import BlockingWaitControls, WaitControls
from .wire import AsyncWire, DoctorControls, RequestControls, Wire


class ClusterControls(
    FaultPresetControls,
    FaultPointControls,
    ReplicaControls,
    RecordControls,
    GroupControls,
    TransactionControls,
    ConnectionControls,
    DoctorControls,
    OverviewControls,
    AccessControls,
    ClientMetricsControls,
    StateControls,
    CaptureControls,
    RequestControls,
    WaitControls,
):
    """The controls as coroutines, for the event loop on which the cluster runs."""

    @property
    def clock(self) -> AsyncClock:
        """The cluster's time."""
        return AsyncClock(self)

    @property
    def schemas(self) -> AsyncSchemas:
        """The schema registry."""
        return AsyncSchemas(self)

    @property
    def wire(self) -> AsyncWire:
        """The record of exchanges and events."""
        return AsyncWire(self)


class BlockingControls(BlockingWaitControls):
    """The controls as methods that return when they are done, for other threads than the cluster's."""

    _controls: ClusterControls

    @property
    def clock(self) -> Clock:
        """The cluster's time."""
        return Clock(AsyncClock(self._controls), self._run)

    @property
    def schemas(self) -> Schemas:
        """The schema registry."""
        return Schemas(AsyncSchemas(self._controls), self._run)

    @property
    def wire(self) -> Wire:
        """The record of exchanges and events."""
        return Wire(AsyncWire(self._controls), self._run)

    @property
    def faults(self) -> list[FaultHandle]:
        """The faults of the cluster in the order in which they are consulted."""
        return [FaultHandle(handle, self._run) for handle in self._controls.faults]

    stop_node = blocking(NodeControls.stop_node)
    start_node = blocking(NodeControls.start_node)
    pause_node = blocking(NodeControls.pause_node)
    resume_node = blocking(NodeControls.resume_node)
    isolate = blocking(NodeControls.isolate)
    rejoin = blocking(NodeControls.rejoin)
    add_node = blocking(NodeControls.add_node)
    remove_node = blocking(NodeControls.remove_node)

    move_leader = blocking(ReplicaControls.move_leader)
    elect = blocking(ReplicaControls.elect)
    move_coordinator = blocking(ReplicaControls.move_coordinator)
    set_replicas = blocking(ReplicaControls.set_replicas)
    hold_reassignments = blocking(ReplicaControls.hold_reassignments)
    release_reassignments = blocking(ReplicaControls.release_reassignments)
    lag = blocking(ReplicaControls.lag)
    catch_up = blocking(ReplicaControls.catch_up)

    create_topic = blocking(RecordControls.create_topic)
    delete_topic = blocking(RecordControls.delete_topic)
    topics = blocking(RecordControls.topics)
    produce = blocking(RecordControls.produce)
    records = blocking(RecordControls.records)
    decoded_records = blocking(RecordControls.decoded_records)
    wait_for_records = blocking(RecordControls.wait_for_records)

    groups = blocking(GroupControls.groups)
    show_group = blocking(GroupControls.show_group)
    wait_for_group = blocking(GroupControls.wait_for_group)

    transactions = blocking(TransactionControls.transactions)
    connections = blocking(ConnectionControls.connections)
    waiting_requests = blocking(ConnectionControls.waiting_requests)
    doctor = blocking(DoctorControls.doctor)
    client_metrics = blocking(ClientMetricsControls.client_metrics)

    status = blocking(OverviewControls.status)
    nodes = blocking(OverviewControls.nodes)
    acls = blocking(AccessControls.acls)
    users = blocking(AccessControls.users)
    requests = blocking(RequestControls.requests)

    fault = blocking_fault(FaultControls.fault)
    fault_at = blocking_fault(FaultPointControls.fault_at)
    damage = blocking_fault(FaultPointControls.damage)
    list_faults = blocking(FaultControls.list_faults)
    wait_for_fault = blocking(FaultControls.wait_for_fault)
    remove_fault = blocking(FaultControls.remove_fault)
    remove_faults = blocking(FaultControls.remove_faults)
    lost_acks = blocking_fault(FaultPresetControls.lost_acks)
    flaky = blocking_fault(FaultPresetControls.flaky)
    firewall = blocking_fault(FaultPresetControls.firewall)
    slow_network = blocking_fault(FaultPresetControls.slow_network)
    leader_election = blocking_fault(FaultPresetControls.leader_election)
    coordinator_moves = blocking_fault(FaultPresetControls.coordinator_moves)
    disk_full = blocking_fault(FaultPresetControls.disk_full)
    disk_slow = blocking_fault(FaultPresetControls.disk_slow)
    torn_write = blocking_fault(FaultPresetControls.torn_write)
    not_enough_replicas = blocking_fault(FaultPresetControls.not_enough_replicas)
    rolling_restart = blocking(FaultPresetControls.rolling_restart)
    outage = blocking(FaultPresetControls.outage)
    crash_client = blocking(FaultPresetControls.crash_client)

    snapshot = blocking(StateControls.snapshot)
    restore = blocking(StateControls.restore)
    close_snapshot = blocking(StateControls.close_snapshot)
    snapshots = blocking(StateControls.snapshots)
    reset = blocking(StateControls.reset)
    save = blocking(StateControls.save)
    export_log_dirs = blocking(StateControls.export_log_dirs)

    start_capture = blocking(CaptureControls.start_capture)
    stop_capture = blocking(CaptureControls.stop_capture)
