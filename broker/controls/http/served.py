"""The control listener of a server that no `AsyncCluster` owns, such as that of `odradek serve`."""

from __future__ import annotations

from ...network.server import Server
from ..cluster_controls import ClusterControls
from .address import ControlAddress
from .listener import ControlListener


class ServedControls(ClusterControls):
    """The controls of a server."""

    def __init__(self, server: Server) -> None:
        self._served = server

    @property
    def _server(self) -> Server:
        return self._served


async def serve_controls(server: Server, address: ControlAddress) -> ControlListener:
    """Returns a control listener that accepts connections. Raises OSError if the address is in use."""
    listener = ControlListener(ServedControls(server), address)
    await listener.start()
    return listener
