"""Controls of the state: snapshots, the state after start, saving to a file, and exporting to log directories of Apache Kafka."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from ..control_errors import InvalidControl, unknown
from ..frozen_data import FrozenData
from ..snapshots.handle import Snapshot
from .declaration import Controls, control
from .parameters import SnapshotId


class ExportedNode(FrozenData):
    """The log directory of a node that was written for Apache Kafka."""

    node: int
    """The id of the node."""
    log_bytes: int
    """The size of all segments."""
    command: str
    """The command that starts the node, to be run in the folder of Apache Kafka."""


class StateControls(Controls):
    """Returning a cluster to a former state, and saving its state."""

    @control("state snapshot")
    async def snapshot(self) -> Snapshot:
        """Keeps the present state of the cluster as a snapshot for `restore`, and returns it.

        A snapshot contains topics, records, groups, offsets, transactions, producers, ACLs, credentials, quotas, features, settings,
        and the states of nodes and replicas. It shares the memory of the records, and is kept until it is closed.
        """
        server = self._server
        with server.control_turn("taking a snapshot"):
            faults = () if server.core.gate is None else server.core.faults.active
            return server.snapshots.take(server.cluster, faults)

    @control("state restore")
    async def restore(self, snapshot: SnapshotId) -> None:
        """Brings the cluster back to the state of a snapshot, and closes all connections with RST.

        Time does not go back: sessions, time-outs and expiries have the same time left as they had. Records keep their timestamps, and
        ports stay. Of the faults, those that the snapshot had remain or come back. Raises ValueError for an unknown or closed snapshot.
        """
        server, snapshot_id = self._server, self._id_of(snapshot)
        await server.restore(server.snapshots[snapshot_id], server.snapshots.faults(snapshot_id))

    @control("state close")
    async def close_snapshot(self, snapshot: SnapshotId) -> None:
        """Releases a snapshot and the memory that only it uses. Raises ValueError for an unknown or closed snapshot."""
        self._server.snapshots.close(self._id_of(snapshot))

    @control("state list", reads=True)
    async def snapshots(self) -> list[Snapshot]:
        """Returns the snapshots that are not closed, oldest first."""
        return list(self._server.snapshots)

    @control("state reset")
    async def reset(self) -> None:
        """Brings the cluster back to the state after its start, and closes all connections with RST.

        The time passes at the speed of the wall clock again, but does not go back. Faults are removed. Ports and snapshots stay.
        """
        server = self._server
        await server.restore(server.snapshots.initial)
        server.clock.run(1)
        server.driver.set_alarm()

    @control("state save")
    async def save(self, file: Annotated[str | os.PathLike[str], "the path of the file"]) -> int:
        """Saves the present state to a file, which replaces an existing one, and returns the size of the file in bytes.

        `odradek serve --load` starts a cluster with this state. In Python, `Cluster.load(file)` does. Raises ValueError if the file
        cannot be written.
        """
        from ..snapshots.cluster import write_cluster
        from ..snapshots.state_file import save

        server, path = self._server, Path(file)
        with server.control_turn("saving the state"):
            state = write_cluster(server.cluster)
        try:
            return await server.in_thread(lambda: save(state, path))
        except OSError as error:
            raise InvalidControl("file", f"cannot write {path}: {error.strerror or error}") from None

    @control("state export-log-dirs")
    async def export_log_dirs(
        self, directory: Annotated[str | os.PathLike[str], "the path of an empty or new folder"]
    ) -> list[ExportedNode]:
        """Writes the cluster as log directories, on which Apache Kafka 4.3 or later starts, and returns the nodes.

        There is one folder for each node, with a server.properties. Topics with their ids, settings and records come back, and so do
        groups with their offsets, transactions, producers, ACLs, SCRAM credentials and quotas. The nodes listen on 127.0.0.1:9092 and the
        following ports, without TLS or SASL. Raises ValueError if the folder is not empty or cannot be written.
        """
        from ..directories.exporting import collect, start_command, write_folders

        server, path = self._server, Path(directory)
        with server.control_turn("exporting log directories"):
            nodes = collect(server.cluster)
        try:
            written = await server.in_thread(lambda: write_folders(nodes, path))
        except OSError as error:
            raise InvalidControl("directory", f"cannot write {error.filename or path}: {error.strerror or error}") from None
        return [ExportedNode(each.node_id, each.size, start_command(each.properties)) for each in written]

    def _id_of(self, snapshot: Snapshot | int) -> int:
        """Returns the id of a snapshot. Raises InvalidControl if there is none with this id."""
        snapshot_id = snapshot.id if isinstance(snapshot, Snapshot) else snapshot
        if snapshot_id not in self._server.snapshots:
            raise unknown("snapshot", "snapshot", snapshot_id, [each.id for each in self._server.snapshots])
        return snapshot_id
