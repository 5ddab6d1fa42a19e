"""The event loop's side of one connection: moves its bytes between its transport and the core.

No exception leaves these callbacks: asyncio would end the connection without a word, or go on with one that is half made. The core logs
the error and the connection is aborted; all other connections go on.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, cast

from ..cluster.broker import Broker

if TYPE_CHECKING:
    from .server import Server

WRITE_BYTES = 1024 * 1024
CLOSE_MS = 10_000
"""How long a connection that is closed may take to deliver its last answers."""

network_log = logging.getLogger("kafka.network.SocketServer")


class ClientProtocol(asyncio.BufferedProtocol):
    """A client at host:port that has connected to one listener of a broker."""

    def __init__(self, server: Server, broker: Broker, listener_name: str, host: str, port: int) -> None:
        self.server = server
        self.broker = broker
        self.host = host
        self.connection = server.core.connect(broker, listener_name, host, port, self.flush, self._abort_transport)
        self._transport: asyncio.Transport | None = None
        self._vectored = False
        self._reading = True

    @property
    def is_open(self) -> bool:
        """Whether there is a transport, of which `connection_lost` will tell when it is closed."""
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The transport is open."""
        self._transport = cast(asyncio.Transport, transport)
        # uvloop's transports write from where the bytes are, see `_write`.
        self._vectored = type(transport).__module__.startswith("uvloop")
        try:
            self.server.opened(self)
        except Exception as error:
            self.connection.abort(error, "opening it")
        if self.connection.closing is not None:
            self._transport.abort()
        self.server.after_turn()

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the next bytes go."""
        return self.connection.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        """Serves what has arrived, and all that it woke, and writes all answers."""
        server, connection = self.server, self.connection
        server.begin_turn()
        connection.received(nbytes)
        server.after_turn()
        if self._reading and not connection.wants_data:
            self._reading = False
            self._open_transport.pause_reading()

    @property
    def _open_transport(self) -> asyncio.Transport:
        assert self._transport is not None
        return self._transport

    def flush(self) -> None:
        """Writes the connection's output, or the next piece of it.

        More follows in the next turn, or when the peer has read enough. A connection that is closing is closed once all is written.
        """
        connection, transport = self.connection, self._transport
        if transport is None or transport.is_closing():
            return
        if connection.output and connection.writable:
            self._write(transport)
        if connection.output and connection.writable:
            connection.flush_later()
        elif connection.closing is not None:
            self._close(transport)
        elif connection.writable:
            connection.flushed()
            self._resume_reading()

    def _write(self, transport: asyncio.Transport) -> None:
        if self._vectored:
            transport.writelines(self.connection.take_output())
        else:
            # asyncio's transports copy what they are given, so a long answer is given to them piece by piece. Not with writelines,
            # which ignores back-pressure in some releases (CVE-2024-12254).
            transport.write(b"".join(self.connection.take_output(WRITE_BYTES)))

    def _close(self, transport: asyncio.Transport) -> None:
        """Closes the transport; it is aborted if the peer does not read, because such a peer would keep it open for ever."""
        if self.connection.writable:
            transport.close()
            self.server.core.timers.set(self, CLOSE_MS, transport.abort)
        else:
            transport.abort()

    def _resume_reading(self) -> None:
        if not self._reading and self.connection.wants_data:
            self._reading = True
            self._open_transport.resume_reading()

    def pause_writing(self) -> None:
        """The peer does not read: nothing more is served until it does."""
        self.connection.writable = False

    def resume_writing(self) -> None:
        """The peer reads again."""
        self.connection.writable = True
        self.connection.ask_for_flush()
        self.server.begin_turn()
        self.server.after_turn()

    def abort(self, reason: str) -> None:
        """Ends the connection without waiting for its peer."""
        self.connection.lost(reason)
        self._abort_transport()

    def _abort_transport(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def eof_received(self) -> bool:
        """The client has sent all it will: the connection ends."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Releases what the connection held, and makes room for another one."""
        connection = self.connection
        if connection.closing is None:
            network_log.debug("[KafkaServer id=%d] %s has disconnected", self.broker.node_id, connection.client)
        self.server.begin_turn()
        self.server.core.timers.cancel(self)
        try:
            connection.lost("the client has disconnected")
        except Exception as error:
            connection.log_failure(error, "forgetting it")
        finally:
            self.server.closed(self)
            self.server.after_turn()
