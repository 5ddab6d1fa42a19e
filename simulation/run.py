"""One run of a program with its clusters: `Simulation` is what a test calls `sim`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from random import Random
from typing import Any, TypeVar

from ..broker.control_errors import InvalidControl
from ..broker.embedding.cluster import AsyncCluster
from ..broker.wire.exchange import Entry, Event
from .aiokafka_shims import adapted_aiokafka
from .environment import simulated_environment, uncollected
from .errors import Hung, InvariantViolated, SimulationError
from .faults import SimulatedFaults
from .history import History
from .loop import SimulatedLoop
from .network import Conditions, Network, SimulatedHost
from .observation import Observation
from .settling import GroupsSettle
from .workers import Work, Worker

T = TypeVar("T")

LIMIT_S = 3600.0
"""The virtual time after which a program that has not ended is said to hang."""
_CLEANUP_S = 60.0
_FIRST_PORT = 9092
Node = int
Host = int | str | Worker


class Simulation:
    """A run with a seed. `run(main())` runs a coroutine with virtual time, and the methods make clusters and let faults happen.

    Times are virtual seconds. `after` counts from the call, and a fault without `for_s` lasts until the end.
    """

    def __init__(self, seed: int, left_out: Collection[str] = ()) -> None:
        self.seed = seed
        self.random = Random(f"test {seed}")
        """Chance for the test itself, such as for the times of faults."""
        self._loop = SimulatedLoop()
        self.faults = SimulatedFaults(self._loop.time, left_out)
        self._network = self._loop.network = Network(self._loop, self.faults, seed)
        self._clusters: list[AsyncCluster] = []
        self._histories: list[History] = []
        self._workers: list[Worker] = []
        self._settling_s: list[float] = []
        self.on_cluster: list[Callable[[AsyncCluster], Awaitable[object]]] = []
        """Functions that are awaited with each cluster that has been started."""

    def __repr__(self) -> str:
        return f"<Simulation with seed {self.seed}>"

    def __call__(self, main: Coroutine[Any, Any, T], *, limit_s: float = LIMIT_S) -> T:
        """Runs a coroutine and returns its result. Raises what it raises, Hung after `limit_s` virtual seconds, and SimulationError."""
        loop = self._loop
        late = f"the program has not ended within {limit_s:g} virtual seconds"
        limit = loop.call_later(limit_s, lambda: loop.fail(Hung(f"{late}; {loop.waiting_tasks()}")))
        try:
            return loop.run_until_complete(main)
        finally:
            limit.cancel()

    @property
    def now_s(self) -> float:
        """The virtual seconds since the start of the run."""
        return self._loop.now_s

    @property
    def trace(self) -> str:
        """A digest of all bytes and events of the network with their times. It is the same in each run of the seed."""
        return self._loop.trace.digest

    @property
    def events(self) -> int:
        """The number of events in the trace."""
        return self._loop.trace.events

    def latest_entries(self, most: int) -> list[Entry]:
        """Returns the latest entries in the records of the clusters that are running."""
        running = [cluster._server for cluster in self._clusters if cluster.is_running]
        records = [server.core.record for server in running]
        entries = [list(record.entries())[-most:] for record in records if record is not None]
        return sorted(chain.from_iterable(entries), key=began_ms)[-most:]

    @property
    def clusters(self) -> tuple[AsyncCluster, ...]:
        """The clusters that the run has made."""
        return tuple(self._clusters)

    @property
    def history(self) -> History:
        """The records that were sent to the first cluster, compared with its logs. Raises ValueError without a cluster."""
        if not self._histories:
            raise ValueError("there is no history yet; make a cluster by `await sim.cluster()`")
        return self._histories[0]

    async def cluster(
        self, nodes: int = 2, topics: Mapping[str, Any] | None = None, settings: Mapping[str, Any] | None = None, **options: Any
    ) -> AsyncCluster:
        """Starts a cluster with the arguments of `odradek.Cluster` and returns it. It is stopped at the end of the run.

        Its nodes listen at kafka:9092, kafka:9093 and so on, those of a second cluster at kafka-2. Raises ValueError with `tls`.
        """
        if options.get("tls"):
            raise ValueError("a simulation has no TLS; leave tls out, and use users for authentication, which works without it")
        name = "kafka" if not self._clusters else f"kafka-{len(self._clusters) + 1}"
        listeners = {"listeners": f"{'SASL_PLAINTEXT' if options.get('users') else 'PLAINTEXT'}://{name}:{_FIRST_PORT}"}
        cluster = AsyncCluster(nodes, topics, listeners | dict(settings or {}), **({"seed": self.seed} | options))
        await cluster.start()
        observation = Observation()
        for node in cluster._server.config.nodes:
            for listener in node.listeners:
                address = self._network.resolve(listener.host, listener.port)[0][4]
                self._network.places[address] = SimulatedHost(_name(node.node_id))
                self._network.taps[address] = observation.tap
        self._clusters.append(cluster)
        self._histories.append(History(observation, lambda: cluster._server))
        for within_s in self._settling_s:
            GroupsSettle(self._loop, cluster, within_s)
        for told in self.on_cluster:
            await told(cluster)
        return cluster

    def network(
        self,
        *,
        latency: tuple[float, float] | None = None,
        splits: float | None = None,
        resets: float | None = None,
        half_open: float | None = None,
    ) -> None:
        """Changes the conditions of the network from now on; what is not given stays.

        `latency` is the range, in seconds, from which each new connection has its latency. `splits`, `resets` and `half_open` are shares of
        segments: those that arrive in two parts, that end their connection with RST, and after which nothing arrives any more.
        """
        given: dict[str, Any] = {"latency": latency, "splits": splits, "resets": resets, "half_open": half_open}
        conditions = self._network.conditions._replace(**{name: value for name, value in given.items() if value is not None})
        self._network.conditions = _check_conditions(conditions)

    # Nodes

    def crash(self, node: Node, *, after: float = 0, for_s: float | None = None) -> None:
        """Lets a node crash: its connections end, and its partitions get other leaders when its session has expired."""
        self._do("crash", f"node {node} crashes", after, for_s, lambda c: c.stop_node(node, graceful=False), lambda c: c.start_node(node))

    def stop(self, node: Node, *, after: float = 0, for_s: float | None = None) -> None:
        """Stops a node as SIGTERM does, which moves its leaders at once."""
        self._do("stop", f"node {node} stops", after, for_s, lambda c: c.stop_node(node), lambda c: c.start_node(node))

    def pause(self, node: Node, *, after: float = 0, for_s: float | None = None) -> None:
        """Pauses a node as SIGSTOP does: clients can connect, but get no answer."""
        self._do("pause", f"node {node} pauses", after, for_s, lambda c: c.pause_node(node), lambda c: c.resume_node(node))

    def isolate(self, node: Node, *, after: float = 0, for_s: float | None = None) -> None:
        """Cuts a node off from clients and from the other nodes."""
        self._do("isolate", f"node {node} is isolated", after, for_s, lambda c: c.isolate(node), lambda c: c.rejoin(node))

    def move_leader(self, topic: str, partition: int, *, to: Node, after: float = 0) -> None:
        """Makes a node the leader of a partition."""
        self._do("leader", f"node {to} leads {topic}-{partition}", after, None, lambda c: c.move_leader(topic, partition, to))

    def move_coordinator(self, group: str, *, to: Node, after: float = 0) -> None:
        """Makes a node the coordinator of a group."""
        self._do("coordinator", f"node {to} coordinates {group}", after, None, lambda c: c.move_coordinator(to, group=group))

    # Hosts

    def partition(self, one: Host, other: Host, *, after: float = 0, for_s: float | None = None) -> None:
        """Separates two hosts: a node, a worker, or "test" for everything that is no worker. Segments wait until the end."""
        names = _name(one), _name(other)
        cut: list[int] = []

        async def begin(_: AsyncCluster) -> None:
            cut.append(self._network.cut(frozenset(names[:1]), frozenset(names[1:])))

        async def end(_: AsyncCluster) -> None:
            self._network.heal(cut.pop())

        self._do("partition", f"{names[0]} and {names[1]} are separated", after, for_s, begin, end)

    def start(self, work: Work, name: str = "") -> Worker:
        """Starts a coroutine function without arguments on a host of its own and returns the worker, which `restart` takes.

        The run fails if it raises an exception.
        """
        worker = Worker(self._loop, name or f"{getattr(work, '__name__', 'worker')}-{len(self._workers) + 1}", work)
        self._workers.append(worker)
        return worker

    def restart(self, worker: Worker, *, after: float = 0, for_s: float = 0, graceful: bool = False) -> None:
        """Ends a worker as SIGKILL does, or as SIGTERM with `graceful`, and starts it again `for_s` seconds later."""

        async def begin(_: AsyncCluster | None) -> None:
            if graceful:
                await worker.stop()
            else:
                worker.kill()

        async def end(_: AsyncCluster | None) -> None:
            worker.start()

        self._do("restart", f"{worker.name} {'stops' if graceful else 'is killed'}", after, for_s, begin, end)

    def _do(
        self,
        kind: str,
        text: str,
        after: float,
        for_s: float | None,
        begin: Callable[[AsyncCluster], Coroutine[Any, Any, Any]],
        end: Callable[[AsyncCluster], Coroutine[Any, Any, Any]] | None = None,
    ) -> None:
        """Lets a fault begin and end at its times, unless it is left out.

        A fault that is impossible at its time, such as the pause of a stopped node, is skipped.
        """
        if after < 0 or (for_s is not None and for_s < 0):
            raise ValueError("after and for_s must not be negative")

        async def happen() -> None:
            await asyncio.sleep(after)
            if not self.faults.happens(kind, text if for_s is None else f"{text} for {for_s:g} s"):
                return
            await self._attempt(begin)
            if for_s is not None and end is not None:
                await asyncio.sleep(for_s)
                await self._attempt(end)

        task = self._loop.create_task(happen(), name=f"fault: {text}")
        task.add_done_callback(self._fault_ended)

    async def _attempt(self, act: Callable[[Any], Coroutine[Any, Any, Any]]) -> None:
        with suppress(InvalidControl):
            await act(self._clusters[0] if self._clusters else None)

    def _fault_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._loop.fail(error)

    # Invariants

    def always(self, check: Callable[[], object]) -> None:
        """Calls a function after each event from now on. The run fails if it raises an exception or returns False."""

        def checked() -> None:
            if check() is False:
                raise InvariantViolated(f"{getattr(check, '__name__', check)!s} has returned False at {self.now_s:.3f} s")

        self._loop.after_events.append(checked)

    def groups_settle(self, within_s: float) -> None:
        """Lets the run fail if a group with members is not stable for more than this time."""
        self._settling_s.append(within_s)
        for cluster in self._clusters:
            GroupsSettle(self._loop, cluster, within_s)

    # The end

    def end(self) -> None:
        """Cancels the tasks that are left and stops the clusters."""
        loop = self._loop
        loop.begin_end()
        loop.set_exception_handler(lambda *_: None)  # of clients that were killed with their host, and of callbacks that are cancelled
        self._network.conditions = Conditions(splits=0)
        limit = loop.call_later(_CLEANUP_S, lambda: loop.fail(Hung("")))
        with suppress(SimulationError):
            loop.run_until_complete(self._clean_up())
        limit.cancel()
        self._network.end()
        for task in loop.tasks():
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001
        self._workers.clear()  # so that nothing of the program is alive when the garbage is collected
        loop.close()

    async def _clean_up(self) -> None:
        current = asyncio.current_task()
        tasks = [task for task in self._loop.tasks() if task is not current]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for cluster in self._clusters:
            await cluster.stop()
        await self._loop.shutdown_asyncgens()


def began_ms(entry: Entry) -> float:
    """Returns when an entry was recorded, in milliseconds since the Unix epoch."""
    return (entry.at if isinstance(entry, Event) else entry.received).wall_ms


def _name(host: Host) -> str:
    """Returns the name of a host on the network."""
    return f"node {host}" if isinstance(host, int) else host.name if isinstance(host, Worker) else host


def _check_conditions(conditions: Conditions) -> Conditions:
    """Returns conditions. Raises ValueError for a range or a share that is none."""
    low, high = conditions.latency
    if not 0 <= low <= high:
        raise ValueError(f"latency must be a range of seconds such as (0.001, 0.4), not {conditions.latency!r}")
    for name in ("splits", "resets", "half_open"):
        if not 0 <= getattr(conditions, name) <= 1:
            raise ValueError(f"{name} must be a share from 0 to 1, not {getattr(conditions, name)!r}")
    return conditions


@contextmanager
def simulated(simulation: Simulation) -> Iterator[Simulation]:
    """Makes a simulation the event loop, the time and the chance of this thread, until the end of the block."""
    with uncollected(), simulated_environment(simulation._loop, simulation.seed), adapted_aiokafka():  # noqa: SLF001  (its own module)
        asyncio.set_event_loop(simulation._loop)  # noqa: SLF001
        try:
            yield simulation
        finally:
            simulation.end()
            asyncio.set_event_loop(None)


@contextmanager
def simulate(seed: int = 0) -> Iterator[Simulation]:
    """Yields a simulation with which a script or test runs a program: `with odradek.simulate(seed=7) as run: run(main())`.

    The process is started once more if its hash seed is not fixed, because the order of sets would differ between processes.
    """
    from .hash_seed import fix_hash_seed

    fix_hash_seed()
    with simulated(Simulation(seed)) as simulation:
        yield simulation
