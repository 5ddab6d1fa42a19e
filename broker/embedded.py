"""A cluster inside a Python program: `with Cluster(...)` in a thread of its own, `async with Cluster(...)` on the caller's loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

from .listeners import ClusterConfig, TopicSpec, cluster_of
from .server import Server, new_event_loop

T = TypeVar("T")
ANY_PORT = "PLAINTEXT://127.0.0.1:0"


class AsyncCluster:
    """A running cluster, as `async with Cluster(...)` gives it."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,host:port`, for a client's bootstrap.servers."""
        return self._server.bootstrap_servers

    async def stop_node(self, node_id: int) -> None:
        """Stops a broker: its connections end, its partitions and groups move to others. Raises ValueError for an unknown id."""
        await self._server.stop_node(node_id)

    async def start_node(self, node_id: int) -> None:
        """Starts a stopped broker on the port it had. Raises ValueError for an unknown id."""
        await self._server.start_node(node_id)


class Cluster:
    """Emulated Kafka brokers on free ports of 127.0.0.1, gone without a trace when the `with` ends.

        with Cluster(nodes=2, topics={"orders": 4}, settings={"num.partitions": 3}) as cluster:
            producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})

    `topics` are names with numbers of partitions. `settings` are Kafka's broker settings, `listeners` among them; a wrong value
    raises ValueError. `seed` fixes what is random otherwise: ids, and where leaders are. `transaction_version` is the finalized level of
    that feature: below 2, clients that could use transactions v2 (KIP-890) do not.
    """

    def __init__(
        self,
        nodes: int = 2,
        topics: Mapping[str, int] | None = None,
        settings: Mapping[str, str | int | float | bool] | None = None,
        *,
        seed: int | None = None,
        transaction_version: int = 2,
    ) -> None:
        properties = {"listeners": ANY_PORT} | {name: _text(value) for name, value in (settings or {}).items()}
        self._config: ClusterConfig = replace(cluster_of([properties], nodes=nodes), transaction_version=transaction_version)
        self._topics = [TopicSpec(name, partitions) for name, partitions in (topics or {}).items()]
        self._seed = seed

    async def __aenter__(self) -> AsyncCluster:
        self._server = Server(self._config, self._topics, seed=self._seed)
        await self._server.start()
        return AsyncCluster(self._server)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self._server.stop()

    def __enter__(self) -> Self:
        started: Future[AsyncCluster] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="odradek", daemon=True)
        self._thread.start()
        try:
            self._cluster = started.result()
        except BaseException:
            self._thread.join()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,host:port`, for a client's bootstrap.servers."""
        return self._cluster.bootstrap_servers

    def stop_node(self, node_id: int) -> None:
        """Stops a broker and returns when it is gone: its partitions and groups are with others. Raises ValueError for an unknown id."""
        self._call(self._cluster.stop_node(node_id))

    def start_node(self, node_id: int) -> None:
        """Starts a stopped broker on the port it had and returns when it serves. Raises ValueError for an unknown id."""
        self._call(self._cluster.start_node(node_id))

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _run(self, started: Future[AsyncCluster]) -> None:
        """The thread's whole life; what goes wrong at the start is raised where the `with` stands."""

        async def live() -> None:
            self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
            async with self as cluster:
                started.set_result(cluster)
                await self._ended.wait()

        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            try:
                runner.run(live())
            except BaseException as error:
                if started.done():
                    raise
                started.set_exception(error)


def _text(value: str | int | float | bool) -> str:
    """A setting as server.properties would have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
