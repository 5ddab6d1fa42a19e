"""The server of a cluster in a Python program, with its control listener."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..plurals import counted

if TYPE_CHECKING:
    from ..controls.http.listener import ControlListener
    from ..network.server import Server, ServerOptions
    from ..registry_edge.listener import RegistryListener

NOT_RUNNING = "the cluster is not running; use it inside its `with` block, or between start() and stop()"


class EmbeddedServer:
    """A server that can be started and stopped repeatedly, always with the same options."""

    def __init__(self, options: ServerOptions) -> None:
        self.options = options
        self._running: Server | None = None
        self._listener: ControlListener | None = None
        self._registry: RegistryListener | None = None

    def __str__(self) -> str:
        """Returns the nodes with their addresses, or their number while the cluster is not running."""
        if self._running is None:
            return f"{counted(len(self.options.config.nodes), 'node')}, not running"
        brokers = self._running.cluster.brokers
        states = {
            node_id: "" if broker.running and not broker.silence else f" ({broker.silence.value if broker.silence else 'stopped'})"
            for node_id, broker in brokers.items()
        }
        nodes = self._running.config.nodes
        return ", ".join(f"node {node.node_id} at {node.listeners[0].advertised}{states[node.node_id]}" for node in nodes)

    @property
    def is_running(self) -> bool:
        """Whether the server has been started and not stopped since."""
        return self._running is not None

    @property
    def server(self) -> Server:
        """The running server. Raises ValueError if it is not running."""
        if self._running is None:
            raise ValueError(NOT_RUNNING)
        return self._running

    @property
    def control(self) -> str | None:
        """`host:port` of the control listener, None without one. Raises ValueError if the server is not running."""
        _ = self.server
        return None if self._listener is None else self._listener.address

    async def start(self) -> None:
        """Starts the server and its control listener. Raises ValueError if it is running, OSError if a port is in use."""
        if self._running is not None:
            raise ValueError(f"the cluster is running already, at {self._running.bootstrap_servers}; stop it before you start it again")
        from ..network.server import Server

        server = Server(self.options)
        await server.start()
        self._running = server
        if self.options.control is not None:
            from ..controls.http.listener import serve_controls

            try:
                self._listener = await serve_controls(server, self.options.control)
            except BaseException:
                await self.stop()
                raise
        if self.options.schema_registry is not None:
            try:
                await self.start_registry()
            except BaseException:
                await self.stop()
                raise

    async def start_registry(self) -> str:
        """Starts the listener of the schema registry unless it runs already, and returns its URL. Raises OSError if the port is in use."""
        if self._registry is None:
            from ..registry_edge.access import ANY_PORT, RegistryAddress
            from ..registry_edge.listener import serve_schema_registry

            address = self.options.schema_registry or RegistryAddress.parse(ANY_PORT)
            self._registry = await serve_schema_registry(self.server, address)
        return self._registry.url

    async def stop(self) -> None:
        """Stops the listeners and the server. Does nothing if the server is not running."""
        listeners, self._listener, self._registry = (self._listener, self._registry), None, None
        for listener in listeners:
            if listener is not None:
                await listener.stop()
        running, self._running = self._running, None
        if running is not None:
            await running.stop()
