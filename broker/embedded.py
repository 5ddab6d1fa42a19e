"""A cluster inside a Python program: `Cluster` runs it in a thread of its own, `AsyncCluster` on the caller's event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from .cluster.first_topics import TopicOptions, check_topics, topic_specs_of
from .network.server import Server, new_event_loop
from .settings.cluster_config import ClusterConfig, cluster_of
from .settings.properties import SettingValue, as_text
from .settings.spelling import check_scope

ANY_PORT = "PLAINTEXT://127.0.0.1:0"
TRANSACTION_VERSIONS = (0, 1, 2)
NOT_RUNNING = "the cluster does not run; use it inside its `with` block, or between start() and stop()"


class AsyncCluster:
    """Emulated Kafka brokers on the running event loop, with the arguments of `Cluster`.

        async with AsyncCluster(nodes=2) as cluster:
            producer = AIOKafkaProducer(bootstrap_servers=cluster.bootstrap_servers)

    `await start()` and `await stop()` do the same where `async with` does not fit, as in a notebook.
    """

    def __init__(
        self,
        nodes: int = 2,
        topics: Mapping[str, int | TopicOptions] | None = None,
        settings: Mapping[str, SettingValue] | None = None,
        *,
        seed: int | None = None,
        transaction_version: int = 2,
    ) -> None:
        self._config = replace(_cluster_config(nodes, settings or {}), transaction_version=_known_version(transaction_version))
        self._topics = topic_specs_of({} if topics is None else topics)
        check_topics(self._topics, nodes)
        self._seed = seed
        self._running: Server | None = None

    async def start(self) -> Self:
        """Starts the brokers and returns the cluster once they serve. Raises ValueError if it runs already, OSError for a busy port."""
        if self._running is not None:
            raise ValueError(f"the cluster runs already, at {self.bootstrap_servers}; stop it before it is started again")
        server = Server(self._config, self._topics, seed=self._seed)
        await server.start()
        self._running = server
        return self

    async def stop(self) -> None:
        """Stops the brokers, whose records are gone then. Does nothing if the cluster does not run."""
        running, self._running = self._running, None
        if running is not None:
            await running.stop()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self.stop()

    def __repr__(self) -> str:
        return f"<AsyncCluster: {self._state()}>"

    def _state(self) -> str:
        """Returns the nodes with their addresses, or how many there will be."""
        if self._running is None:
            count = len(self._config.nodes)
            return f"{count} node{'s' * (count > 1)}, not running"
        brokers = self._running.cluster.brokers
        stopped = {node_id: "" if broker.running else " (stopped)" for node_id, broker in brokers.items()}
        nodes = self._running.config.nodes
        return ", ".join(f"node {node.node_id} at {node.listeners[0].advertised}{stopped[node.node_id]}" for node in nodes)

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,host:port`, for a client's bootstrap.servers. Raises ValueError if the cluster does not run."""
        return self._server.bootstrap_servers

    async def stop_node(self, node_id: int) -> None:
        """Stops a broker: its connections end, its partitions and groups move to others.

        Raises ValueError for an unknown id, and if the cluster does not run.
        """
        await self._server.stop_node(node_id)

    async def start_node(self, node_id: int) -> None:
        """Starts a stopped broker on the port it had. Raises ValueError for an unknown id, and if the cluster does not run."""
        await self._server.start_node(node_id)

    @property
    def _server(self) -> Server:
        if self._running is None:
            raise ValueError(NOT_RUNNING)
        return self._running


class Cluster:
    """Emulated Kafka brokers on free ports of 127.0.0.1, gone without a trace when the `with` ends.

        with Cluster(nodes=2, topics={"orders": 4}, settings={"num.partitions": 3}) as cluster:
            producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})

    `start()` and `stop()` do the same where `with` does not fit, as in a notebook. `async with Cluster(...)` is `AsyncCluster`.

    `topics` maps names to numbers of partitions, or to options: `{"partitions": 4, "replication_factor": 2, "configs":
    {"cleanup.policy": "compact"}}`. `settings` are Kafka's broker settings, `listeners` among them. `seed` fixes what is random otherwise:
    ids, and where leaders are. `transaction_version` is the finalized level of that feature: below 2, clients that could use transactions
    v2 (KIP-890) do not. Raises TypeError or ValueError for an argument that is wrong, a misspelt setting included.
    """

    def __init__(
        self,
        nodes: int = 2,
        topics: Mapping[str, int | TopicOptions] | None = None,
        settings: Mapping[str, SettingValue] | None = None,
        *,
        seed: int | None = None,
        transaction_version: int = 2,
    ) -> None:
        self._cluster = AsyncCluster(nodes, topics, settings, seed=seed, transaction_version=transaction_version)
        self._thread: threading.Thread | None = None

    def start(self) -> Self:
        """Starts the brokers and returns the cluster once they serve. Raises ValueError if it runs already, OSError for a busy port."""
        started: Future[None] = Future()
        thread = threading.Thread(target=self._run, args=(started,), name="odradek", daemon=True)
        thread.start()
        try:
            started.result()
        except BaseException:
            thread.join()
            raise
        self._thread = thread
        return self

    def stop(self) -> None:
        """Stops the brokers, whose records are gone then. Does nothing if the cluster does not run."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._loop.call_soon_threadsafe(self._ended.set)
            thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.stop()

    async def __aenter__(self) -> AsyncCluster:
        return await self._cluster.start()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self._cluster.stop()

    def __repr__(self) -> str:
        return f"<Cluster: {self._cluster._state()}>"

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,host:port`, for a client's bootstrap.servers. Raises ValueError if the cluster does not run."""
        return self._cluster.bootstrap_servers

    def stop_node(self, node_id: int) -> None:
        """Stops a broker and returns when it is gone: its partitions and groups are with others.

        Raises ValueError for an unknown id, and if the cluster does not run.
        """
        self._call(self._cluster.stop_node, node_id)

    def start_node(self, node_id: int) -> None:
        """Starts a stopped broker on the port it had and returns when it serves.

        Raises ValueError for an unknown id, and if the cluster does not run.
        """
        self._call(self._cluster.start_node, node_id)

    def _call(self, method: Callable[[int], Coroutine[Any, Any, None]], node_id: int) -> None:
        if self._thread is None:
            raise ValueError(NOT_RUNNING)
        asyncio.run_coroutine_threadsafe(method(node_id), self._loop).result()

    def _run(self, started: Future[None]) -> None:
        """The thread's whole life; an exception of the start is raised by `start`."""

        async def live() -> None:
            async with self._cluster:
                self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
                started.set_result(None)
                await self._ended.wait()

        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            try:
                runner.run(live())
            except BaseException as error:
                if started.done():
                    raise
                started.set_exception(error)


def _cluster_config(nodes: int, settings: Mapping[str, SettingValue]) -> ClusterConfig:
    if not isinstance(nodes, int) or isinstance(nodes, bool):
        raise TypeError(f"nodes must be an int, not {nodes!r}")
    if not isinstance(settings, Mapping):
        raise TypeError(f'settings must be a mapping such as {{"num.partitions": 3}}, not {settings!r}')
    check_scope(settings)
    return cluster_of([{"listeners": ANY_PORT} | {name: as_text(name, value) for name, value in settings.items()}], nodes=nodes)


def _known_version(version: int) -> int:
    if version not in TRANSACTION_VERSIONS:
        raise ValueError(f"transaction_version must be 0, 1 or 2, not {version!r}")
    return version
