"""Controls that describe the connections of clients."""

from __future__ import annotations

from dataclasses import dataclass

from .declaration import Controls, control


@dataclass(frozen=True)
class ConnectionInfo:
    """An open connection. `client_id` is that of its last request; `waits_for` is the API of a request that is not answered yet."""

    connection: int
    node: int
    listener: str
    host: str
    port: int
    client_id: str
    software_name: str
    software_version: str
    principal: str
    waits_for: str | None


class ConnectionControls(Controls):
    """The connections of a cluster."""

    @control("connection list", reads=True)
    async def connections(self) -> list[ConnectionInfo]:
        """Returns all open connections in the order in which they were opened."""
        described = []
        for connection in self._server.listeners.connections():
            client, parked = connection.client, connection.parked
            described.append(
                ConnectionInfo(
                    connection=client.connection_id,
                    node=connection.broker.node_id,
                    listener=client.listener_name,
                    host=client.client_host,
                    port=client.client_port,
                    client_id=client.client_id,
                    software_name=client.software_name,
                    software_version=client.software_version,
                    principal=client.principal,
                    waits_for=None if parked is None else parked.header.api.name,
                )
            )
        return described
