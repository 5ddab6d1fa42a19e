"""A cluster on the running event loop: how it starts and stops, and how a state that it had before replaces the present one.

`driver.py` owns the turns, the clock and the alarm, `listeners.py` the ports and connections, `listener_security.py` TLS and key sets, and
`node_operations.py` the changes of single nodes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random, SystemRandom
from typing import TYPE_CHECKING, TypeVar

from ...protocol.errors import KafkaError
from ...storage.memory import LogMemory
from ..api.context import Parked
from ..cluster.startup_topics import create_topics
from ..cluster.state import ClusterState
from ..connections.core import Core
from ..control_errors import ControlError, ControlRefused
from ..scheduling.timers import Timers
from ..scheduling.turns import Turns
from ..settings.cluster_config import ClusterConfig, TopicSpec
from ..settings.schema_registry import DEFAULT_SETTINGS, RegistrySettings
from .driver import Driver
from .listener_security import ListenerSecurity, warn_of_listeners
from .listeners import Listeners
from .node_operations import NodeOperations

if TYPE_CHECKING:
    from pathlib import Path

    from ..controls.http.access import ControlAddress
    from ..directories.source import ImportSource
    from ..durability.data_directory import DataDirectory
    from ..durability.shadow import Shadow
    from ..faults.fault import Fault
    from ..registry_edge.access import RegistryAddress
    from ..snapshots.cluster import State
    from ..snapshots.table import Snapshots
    from ..wire.capture_options import CaptureOptions
    from .capture import CaptureWriter
    from .schema_service import SchemaService

log = logging.getLogger("kafka.server.KafkaServer")

R = TypeVar("R")


@dataclass(frozen=True)
class ServerOptions:
    """The options of a server, which `Cluster` makes of its arguments and `odradek serve` of its own options, after all checks."""

    config: ClusterConfig
    topics: Sequence[TopicSpec] = ()
    """The topics that exist from the start."""
    data: Sequence[Path] = ()
    """Files of seed data."""
    log_dirs: ImportSource | None = None
    """The log directories of brokers, with whose contents the cluster begins."""
    data_dir: DataDirectory | None = None
    """The directory that keeps the data of the cluster, None without one."""
    state: State | None = None
    """A saved state, with which the cluster begins."""
    seed: int | None = None
    """With a seed, ids and the placement of replicas are reproducible."""
    control: ControlAddress | None = None
    """The address of the control listener, None without one."""
    capture: CaptureOptions | None = None
    """The file to which everything between clients and brokers is written, None without one."""
    schema_registry: RegistryAddress | None = None
    """The address of the schema registry's listener, None without one."""
    registry_settings: RegistrySettings = DEFAULT_SETTINGS
    """The settings of the schema registry."""


class Server:
    """A cluster on the running event loop."""

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self.config = options.config
        """The nodes as they are now, with the ports that they have."""
        state, seed = options.state, options.seed
        self._state = state if state is None or seed is None else {**state, "random": None}
        self._random = _random_numbers(seed, state)
        self._log_memory: LogMemory | None = None
        self._directory: DataDirectory | None = None
        self._shadow: Shadow | None = None
        self._snapshots: Snapshots | None = None
        self._starting_again: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self.driver = Driver(self.keep_state_after_start)
        self.clock = self.driver.clock
        self.security = ListenerSecurity()
        self.listeners = Listeners(self)
        self.nodes = NodeOperations(self)
        self.capture: CaptureWriter | None = None
        self.on_seed_bytes: Callable[[int], object] | None = None
        self.schema_registry_url: str | None = None
        """The URL of the schema registry, None while it has no listener."""

    @property
    def now_ms(self) -> int:
        """The cluster's time in milliseconds since the Unix epoch."""
        return self.clock.now_ms

    @property
    def bootstrap_servers(self) -> str:
        """The host:port of each node's listener for clients (`NodeConfig.client_listener`), separated by commas."""
        return ",".join(node.client_listener.advertised for node in self.config.nodes)

    async def start(self) -> None:
        """Binds all listeners, creates the cluster and accepts connections.

        The seed data is written before any client can connect, so that it belongs to the state after start. Raises InvalidConfig, and
        OSError if an address is in use or the capture cannot be written.
        """
        options = self._options
        try:
            if options.capture is not None:
                from .capture import CaptureWriter

                self.capture = CaptureWriter(options.capture)
            if options.data_dir is not None:
                from ..durability.disk_room import DiskRoom

                self._directory = options.data_dir.open()
                self._log_memory = DiskRoom(self._directory.path, self.config.max_memory_bytes, self.config.memory_limit_bytes)
                if self._directory.meta is not None:
                    self.config = replace(self.config, cluster_id=self._directory.meta.cluster_id)
            nodes = [await self.listeners.ports.reserve(node) for node in self.config.nodes]
            self.config = replace(self.config, nodes=tuple(nodes))
            self.driver.core = self._new_core(self.config, self._state)
            self._log_memory = self.cluster.log_memory
            await self.security.prepare(self.config, self.cluster)
            if options.log_dirs is not None:
                from ..directories.importing import import_directories

                import_directories(self.cluster, options.log_dirs)
            is_new = not self._recover(self.cluster)
            create_topics(self.cluster, options.topics)
            if options.data and is_new:
                from ..seed_data.loading import load_files

                load_files(self.cluster, options.data, self.on_seed_bytes)
            self._follow_changes(self.core)
            await self.listeners.follow_nodes(self.config.nodes)
            warn_of_listeners(self.config, self.cluster.brokers.values())
            self.driver.after_turn()
        except BaseException:
            await self.stop()
            raise

    @property
    def core(self) -> Core:
        """The present core, which `restore` replaces."""
        return self.driver.core

    @property
    def cluster(self) -> ClusterState:
        """The present cluster, which `restore` replaces."""
        return self.driver.core.cluster

    @property
    def snapshots(self) -> Snapshots:
        """The snapshots, and the state after start."""
        return self.keep_state_after_start()

    @cached_property
    def schemas(self) -> SchemaService:
        """The schema registry, whose schemas are in a topic. It needs no listener."""
        from .schema_service import SchemaService

        return SchemaService(self, self._options.registry_settings)

    def keep_state_after_start(self) -> Snapshots:
        """Returns the snapshots. The first call keeps the present state as the state after start.

        It precedes the first connection, control or timer, which may change the state. Until then, the modules of snapshots need not be
        imported.
        """
        if self._snapshots is None:
            from ..snapshots.table import Snapshots

            self._snapshots = Snapshots(self.cluster)
        return self._snapshots

    def _new_core(self, config: ClusterConfig, state: State | None, former: Core | None = None) -> Core:
        turns = Turns[Parked](Timers(self.now_ms), time.monotonic)
        if state is None:
            cluster = ClusterState(config, turns, self._random, self._log_memory)
        else:
            from ..snapshots.cluster import restore_cluster

            present = None if former is None else former.cluster
            cluster = restore_cluster(state, config, turns, self._random, self._log_memory, present)
        self.security.attach(cluster)
        cluster.subjects_of_schema = lambda schema_id: self.schemas.subjects_of(schema_id)
        core = Core(cluster, turns, config.record, former)
        core.on_gate_change.append(self.listeners.refuse_or_listen)
        return core

    async def restore(self, state: State, faults: Sequence[Fault] = ()) -> None:
        """Replaces the cluster by one with a state that it had before, and closes all connections with RST. The ports stay.

        Of the faults, only `faults` remain; those of them that were removed are added again. Raises OSError, and changes nothing, if a node
        that has been removed cannot get its port again.
        """
        from ..snapshots.cluster import nodes_of

        async with self.nodes.changing:
            with self.control_turn("restoring a state"):
                known = {node.listeners: node for node in self.config.nodes}
                nodes = tuple(known.get(node.listeners, node) for node in nodes_of(state))
                config = replace(self.config, nodes=nodes)
                core = self._new_core(config, state, self.core)
                if self._shadow is not None:
                    self._shadow = self._shadow.replace_all(core.cluster)
                    core.write_changes = self._shadow.sync
                self.listeners.ports.reserve_again(config.nodes)
                self._replace_core(core, config, faults, "the state of the cluster was replaced")
                await self.listeners.follow_nodes(config.nodes)

    def _replace_core(self, core: Core, config: ClusterConfig, faults: Sequence[Fault], reason: str) -> None:
        """Makes another core the present one, with these of the former one's faults. The connections are closed for a reason."""
        before, self.config, self.driver.core = self.core, config, core
        self.listeners.reset_connections(reason)
        if faults or "faults" in vars(before):
            core.faults.replace(before.faults, faults)
        before.cluster.restore_log_levels()
        if self._log_memory is None:
            core.turns.background(before.cluster.discard())
        else:  # at once, because the bytes count until they are released
            deque(before.cluster.discard(), maxlen=0)

    def tear_next_write(self, topic: str) -> None:
        """Lets all nodes crash within the next write to a topic, and start again from the data directory, if there is one."""
        if self._shadow is not None:
            self._shadow.tear(topic)

    @property
    def keeps_data(self) -> bool:
        """Whether the cluster has a data directory."""
        return self._directory is not None

    def _crashed(self) -> None:
        self._starting_again = self._loop.create_task(self._start_again())

    async def _start_again(self) -> None:
        """Replaces the cluster, whose write was torn, by one with the contents of the data directory, as after a crash of all nodes."""
        async with self.nodes.changing:
            with self.control_turn("starting again after a torn write"):
                assert self._directory is not None and self._shadow is not None  # noqa: S101  (it narrows types)
                self._shadow.abandon()
                self._directory = self._directory.open()
                core = self._new_core(self.config, None, self.core)
                self._recover(core.cluster)
                self._follow_changes(core)
                faults = self.core.faults.active if "faults" in vars(self.core) else ()
                self._replace_core(core, self.config, faults, "the cluster has crashed within a write")
                await self.listeners.follow_nodes(self.config.nodes)

    def _recover(self, cluster: ClusterState) -> bool:
        """Fills a cluster with the contents of the data directory. Returns False if there are none. Raises InvalidConfig."""
        if self._directory is None or self._directory.meta is None:
            return False
        from ..durability.recovery import recover

        recover(cluster, self._directory)
        return True

    def _follow_changes(self, core: Core) -> None:
        """Begins to write the state of a cluster, and each change of it, to the data directory, if there is one. Raises OSError."""
        if self._directory is not None:
            from ..durability.shadow import Shadow

            self._shadow = Shadow(self._directory, core.cluster)
            self._shadow.on_crash = self._crashed
            self._shadow.begin()
            core.write_changes = self._shadow.sync

    async def in_thread(self, work: Callable[[], R]) -> R:
        """Runs work that takes long, such as writing a file, without delaying the cluster, and returns its result."""
        return await self._loop.run_in_executor(None, work)

    async def stop(self) -> None:
        """Closes every listener and connection."""
        await self.listeners.close()
        if "core" in vars(self.driver):  # not if the start has failed before
            self.cluster.restore_log_levels()
        await self.security.stop()
        self.driver.cancel()
        if self._shadow is not None:
            self._shadow.close()
        if self._directory is not None:
            self._directory.unlock()
        if self.capture is not None:
            await self.in_thread(self.capture.close)
        self.driver.announce_change()

    def follow(self, capture: CaptureWriter | None) -> None:
        """Begins to write what happens on all connections to a capture, or stops it with None."""
        self.capture = capture
        self.listeners.follow(capture)

    @contextmanager
    def control_turn(self, doing: str) -> Iterator[None]:
        """Makes the body of the `with` a turn of its own, for a control, which is an event of the record. Raises what `turn` raises."""
        with self.turn(doing):
            self.core.tell("control", doing)
            yield

    @contextmanager
    def turn(self, doing: str) -> Iterator[None]:
        """Makes the body of the `with` a turn of its own.

        A KafkaError is raised as ControlRefused. Any other exception but a ControlError is logged.
        """
        self.keep_state_after_start()
        self.driver.begin_turn()
        try:
            yield
        except ControlError:
            raise
        except KafkaError as error:
            raise ControlRefused(error.code.name, error.message or "") from None
        except Exception:
            log.exception("an internal error while %s", doing)
            raise
        finally:
            self.driver.after_turn()


def _random_numbers(seed: int | None, state: State | None) -> Random:
    """Returns the system's random numbers, or reproducible ones with a seed or with a state that has been saved with a seed."""
    if seed is not None:
        return Random(seed)
    return SystemRandom() if state is None or state["random"] is None else Random()
