"""The cluster in a Python program: `Cluster` runs it in a thread of its own, `AsyncCluster` on the caller's event loop."""

from __future__ import annotations

import threading
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from ..controls.cluster_controls import BlockingControls, ClusterControls
from ..settings.properties import SettingValue
from ..settings.record_limits import DEFAULT_LIMITS, RecordLimits
from . import formats
from .arguments import (
    capture_options,
    check_limit,
    check_seed,
    cluster_config,
    control_address,
    data_directory_of,
    files_of,
    levels_of,
    log_dirs_of,
    registry_address,
    split_registry_settings,
    suggest_keywords,
    texts_of,
)
from .embedded_server import NOT_RUNNING, EmbeddedServer
from .formats import Format
from .group import AsyncGroup, Group
from .topic import AsyncTopic, Topic

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..cluster.startup_topics import TopicOptions
    from ..directories.selection import LogDirOptions
    from ..network.server import Server
    from ..seed_data.reading import Place
    from ..tls.generated import GeneratedTls

R = TypeVar("R")

NOT_GENERATED = "the cluster has no generated certificates; start it with tls=True"


class AnyCluster:
    """The common part of `Cluster` and `AsyncCluster`: their arguments, and the server that these describe."""

    @suggest_keywords
    def __init__(
        self,
        nodes: int = 2,
        topics: Mapping[str, int | TopicOptions] | None = None,
        settings: Mapping[str, SettingValue] | None = None,
        *,
        ignore_unknown_settings: bool = False,
        tls: bool = False,
        users: Mapping[str, str] | None = None,
        acls: Sequence[str] = (),
        data: Place | Sequence[Place] = (),
        from_log_dirs: Sequence[str | PathLike[str]] | LogDirOptions = (),
        data_dir: str | PathLike[str] | None = None,
        memory_limit: int | None = None,
        seed: int | None = None,
        transaction_version: int = 2,
        features: Mapping[str, int] | None = None,
        as_version: str | None = None,
        record_exchanges: int = DEFAULT_LIMITS.exchanges,
        record_bytes: int = DEFAULT_LIMITS.bytes,
        control: str | None = None,
        control_token: str | None = None,
        schema_registry: bool | str = False,
        capture: str | PathLike[str] | None = None,
        capture_addresses: str = "canonical",
    ) -> None:
        from ..cluster.startup_topics import check_topics, topic_specs_of
        from ..network.server import ServerOptions
        from ..security.startup import security_of

        security = security_of(tls, users, acls)
        source = log_dirs_of(from_log_dirs)
        registry_settings, settings = split_registry_settings(settings or {})
        directory = data_directory_of(data_dir, bool(from_log_dirs or as_version))
        config = cluster_config(
            *(nodes, settings, security, as_version),
            ignore_unknown=ignore_unknown_settings,
            source=source,
            keeps_data=directory is not None,
        )
        levels = levels_of(features or {}, transaction_version, config.release)
        record = RecordLimits.of(record_exchanges, record_bytes)
        config = replace(config, features=levels, record=record, memory_limit_bytes=check_limit(memory_limit, directory))
        specs = topic_specs_of({} if topics is None else topics)
        check_topics(specs, len(config.nodes), config.setting_rows)
        check_seed(seed)
        options = ServerOptions(
            config,
            specs,
            files_of(data),
            log_dirs=source,
            data_dir=directory,
            seed=seed,
            control=control_address(control, control_token),
            capture=capture_options(capture, capture_addresses),
            schema_registry=registry_address(schema_registry),
            registry_settings=registry_settings,
        )
        self._embed(EmbeddedServer(options))

    def _embed(self, embedded: EmbeddedServer) -> None:
        """Makes a server the one of this cluster."""
        self._embedded = embedded

    @classmethod
    @suggest_keywords
    def load(
        cls,
        file: str | PathLike[str],
        settings: Mapping[str, SettingValue] | None = None,
        *,
        trust: bool = False,
        seed: int | None = None,
        as_version: str | None = None,
        control: str | None = None,
        control_token: str | None = None,
        schema_registry: bool | str = False,
    ) -> Self:
        """Returns a cluster that starts with the state in a file, which `save` has written, on free ports of this machine.

        It has the nodes and settings of the cluster that was saved, and emulates the same release unless `as_version` names another one;
        `settings` replace single ones. Only with `trust`, it uses files, URLs and addresses of other machines that the file names. With a
        `seed`, the ids and numbers that are generated from now on are reproducible; without one, they continue those of a seeded cluster
        that was saved. Raises ValueError for a file that is damaged, was written by a newer version or needs `trust`, and OSError if it
        cannot be read.
        """
        from ..network.server import ServerOptions
        from ..settings.spelling import at_broker_level
        from ..snapshots.loading import load_on_any_ports

        registry_settings, settings = split_registry_settings(settings or {})
        given = at_broker_level(texts_of(settings))
        state, config = load_on_any_ports(Path(file), given, as_version=as_version, trust=trust)
        check_seed(seed)
        cluster = cls()
        options = ServerOptions(
            config,
            state=state,
            seed=seed,
            control=control_address(control, control_token),
            schema_registry=registry_address(schema_registry),
            registry_settings=registry_settings,
        )
        cluster._embed(EmbeddedServer(options))
        return cluster

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._embedded}>"

    @property
    def is_running(self) -> bool:
        """Whether the cluster has been started and not stopped since."""
        return self._embedded.is_running

    @property
    def bootstrap_servers(self) -> str:
        """`host:port,host:port`, for a client's bootstrap.servers. Raises ValueError if the cluster is not running."""
        return self._server.bootstrap_servers

    @property
    def tls(self) -> GeneratedTls:
        """The generated CA: `tls.ca_file` is its path. Raises ValueError without tls=True, and if the cluster is not running."""
        generated = self._server.security.generated_tls
        if generated is None:
            raise ValueError(NOT_GENERATED)
        return generated

    def client_config(self, client: str, *, user: str | None = None, mechanism: str | None = None) -> dict[str, Any]:
        """Returns the settings with which a client connects, under its own names.

        `client` is "confluent-kafka" (or "librdkafka"), "kafka-python", "aiokafka", "java", "kafkajs", "franz-go" or "spark".

        `user` is one of `users`, by default the first one. Raises ValueError for an unknown client, user or SASL mechanism, and if the
        cluster is not running.
        """
        from .client_config import client_config

        return client_config(client, self._server, user=user, mechanism=mechanism)

    @property
    def control(self) -> str | None:
        """`host:port` of the control listener, None without one. Raises ValueError if the cluster is not running."""
        return self._embedded.control

    @property
    def schema_registry_url(self) -> str:
        """The URL of the schema registry. Raises ValueError without schema_registry=True, and if the cluster is not running."""
        url = self._server.schema_registry_url
        if url is None:
            raise ValueError("the cluster serves no schema registry; start it with schema_registry=True, or call start_schema_registry()")
        return url

    @property
    def _server(self) -> Server:
        return self._embedded.server


class AsyncCluster(AnyCluster, ClusterControls):
    """Emulated Kafka brokers on the running event loop, with the arguments of `Cluster`.

        async with AsyncCluster(nodes=2) as cluster:
            producer = AIOKafkaProducer(bootstrap_servers=cluster.bootstrap_servers)

    `await start()` and `await stop()` do the same where `async with` does not fit, as in a notebook.
    """

    async def start(self) -> Self:
        """Starts the brokers and returns the cluster once they accept connections.

        Raises ValueError if the cluster is running, OSError if a port is in use.
        """
        await self._embedded.start()
        return self

    async def stop(self) -> None:
        """Stops the brokers and discards their records. Does nothing if the cluster is not running."""
        await self._embedded.stop()

    async def start_schema_registry(self) -> str:
        """Serves the schema registry from now on, and returns its URL. If it is served already, only returns the URL.

        Raises ValueError if the cluster is not running.
        """
        return await self._embedded.start_registry()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self.stop()

    def topic(self, name: str, *, key: Format = formats.raw, value: Format = formats.raw) -> AsyncTopic:
        """Returns a handle of a topic, which need not exist yet. Keys and values have the given formats, such as `formats.json`."""
        return AsyncTopic(self, name, key, value)

    def group(self, group_id: str) -> AsyncGroup:
        """Returns a handle of a group, which need not exist yet."""
        return AsyncGroup(self, group_id)


class Cluster(AnyCluster, BlockingControls):
    """Emulated Kafka brokers on free ports of 127.0.0.1. When the `with` block ends they stop, and nothing is persisted.

        with Cluster(nodes=2, topics={"orders": 4}, settings={"num.partitions": 3}) as cluster:
            producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})

    `start()` and `stop()` do the same where `with` does not fit, as in a notebook. `async with Cluster(...)` enters an `AsyncCluster`.

    `topics` maps names to numbers of partitions, or to options: `{"partitions": 4, "replication_factor": 2, "configs":
    {"cleanup.policy": "compact"}}`. `settings` are Kafka's broker settings, including `listeners`. With a `seed`, ids and the placement of
    leaders are reproducible. `transaction_version` is the finalized level of the feature transaction.version; below 2, clients do not use
    transactions v2 (KIP-890). `features` are levels of features, such as {"share.version": 0}; the default is the highest level of each.
    `as_version` is the release of Kafka to emulate, from "2.1" to "4.3" (the default), or "wireshark-4.0".

    `from_log_dirs` are `log.dirs` of Apache Kafka, one for each node of a cluster, with whose nodes, topics, records and groups it starts.
    A dict takes a part: {"directories": [...], "topics": ["orders*"], "from_offset": 5, "until_time": a datetime or ms, "latest": 1000}.

    `data_dir` is a folder that keeps all data: what was acknowledged is there after the next start, even if this process is killed. Of its
    records, at most `memory_limit` bytes are in memory; older ones are served from the files.

    `data` is a file, a folder or a pattern such as "fixtures/*.jsonl", or several: topics and records with which the cluster starts.

    With `tls=True` clients connect by TLS; a CA and certificates are created (`tls.ca_file`). `users` maps names to passwords, with which
    clients authenticate by PLAIN or SCRAM. `acls` restrict access, such as "User:alice:allow:read,describe:topic:orders".

    `capture="orders.pcapng"` writes what clients and brokers send to a file for Wireshark and `odradek explain`, in which node n appears as
    127.0.0.n:9092, or with its real address if `capture_addresses="real"`.
    The last `record_exchanges` requests, with `record_bytes` of their bytes, are recorded (`requests`, `wire`); 0 switches that off.

    `control="127.0.0.1:0"` serves the controls over HTTP too; an address that is not a loopback address needs a `control_token`.

    `schema_registry=True` serves a schema registry with Confluent's REST API at `schema_registry_url`; a text is its host:port. Its
    settings, such as "schema.compatibility.level", are among `settings`.

    Raises TypeError or ValueError for an invalid argument, including a misspelt setting, unless `ignore_unknown_settings` makes that a
    warning in the log.
    """

    def _embed(self, embedded: EmbeddedServer) -> None:
        super()._embed(embedded)
        self._cluster = AsyncCluster.__new__(AsyncCluster)
        self._cluster._embed(embedded)  # noqa: SLF001  (it has the same server)
        BlockingControls.__init__(self, self._cluster, self._run_in_thread)
        self._thread: threading.Thread | None = None

    def start(self) -> Self:
        """Starts the brokers and returns the cluster once they accept connections.

        Raises ValueError if the cluster is running, OSError if a port is in use.
        """
        from concurrent.futures import Future

        started: Future[None] = Future()
        thread = threading.Thread(target=self._serve, args=(started,), name="odradek", daemon=True)
        thread.start()
        try:
            started.result()
        except BaseException:
            thread.join()
            raise
        self._thread = thread
        return self

    def stop(self) -> None:
        """Stops the brokers and discards their records. Does nothing if the cluster is not running."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._loop.call_soon_threadsafe(self._ended.set)
            thread.join()

    def start_schema_registry(self) -> str:
        """Serves the schema registry from now on, and returns its URL. If it is served already, only returns the URL.

        Raises ValueError if the cluster is not running.
        """
        return self._run_in_thread(self._embedded.start_registry())

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.stop()

    async def __aenter__(self) -> AsyncCluster:
        return await self._cluster.start()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self._cluster.stop()

    def topic(self, name: str, *, key: Format = formats.raw, value: Format = formats.raw) -> Topic:
        """Returns a handle of a topic, which need not exist yet. Keys and values have the given formats, such as `formats.json`."""
        return Topic(self, name, key, value)

    def group(self, group_id: str) -> Group:
        """Returns a handle of a group, which need not exist yet."""
        return Group(self, group_id)

    @property
    def awaitable(self) -> AsyncCluster:
        """The cluster with the methods of `AsyncCluster`, to be awaited on any event loop of asyncio or trio.

        The cluster stays in its thread, so that a coroutine which blocks its own loop does not stop the brokers.
        """
        from .awaitable import OnOtherLoops

        return cast(AsyncCluster, OnOtherLoops(self._cluster, self._submit))

    def _run_in_thread(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Runs a coroutine on the cluster's event loop and returns its result. Raises ValueError if that is impossible."""
        if self._thread is threading.current_thread():
            coroutine.close()
            raise ValueError("a blocking call in the cluster's own thread would never return; use AsyncCluster there")
        future = self._submit(coroutine)
        try:
            return future.result()
        finally:
            future.cancel()  # after KeyboardInterrupt

    def _submit(self, coroutine: Coroutine[Any, Any, R]) -> Future[R]:
        """Runs a coroutine on the cluster's event loop. Raises ValueError if the cluster is not running."""
        if self._thread is None:
            coroutine.close()
            raise ValueError(NOT_RUNNING)
        from asyncio import run_coroutine_threadsafe

        return run_coroutine_threadsafe(coroutine, self._loop)

    def _serve(self, started: Future[None]) -> None:
        """Runs the cluster in its thread. An exception during start-up is passed to `start`, which raises it."""
        import asyncio

        from ..network.driver import new_event_loop

        async def run_cluster() -> None:
            async with self._cluster:
                self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
                started.set_result(None)
                await self._ended.wait()

        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            try:
                runner.run(run_cluster())
            except BaseException as error:
                if started.done():
                    raise
                started.set_exception(error)
