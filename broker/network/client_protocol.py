"""The asyncio protocol of one connection: moves bytes between its transport and the core.

No exception leaves these callbacks, because asyncio would close the connection without a log entry, or keep a connection that is half
initialised. The core logs the error and aborts this connection only.

Back-pressure works in both directions. Reading is paused while the connection holds requests that it may not serve yet, and nothing is
served while the transport's buffer is full.

Small responses are joined into one write, because a system call with many parts takes longer than copying them.

While the node is silent (paused or isolated, see `cluster/nodes.py`), the connection is neither read nor written, so that the
client's requests stay in the buffers of the sockets. They are served when the silence ends, if the client is still connected.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import ssl
from contextlib import suppress
from struct import Struct
from typing import TYPE_CHECKING, cast

from ..api.registry import CloseConnection
from ..cluster.broker import Broker

if TYPE_CHECKING:
    from .capture import CaptureWriter
    from .server import Server
    from .tap import Tap

WRITE_BYTES = 256 * 1024
"""The size of the pieces in which TLS encrypts a long response. Pieces of 1 MiB take more than twice the CPU time, because the memory for
each is mapped and unmapped again."""
JOINED_BYTES = 16 * 1024
"""Up to this size the parts of an output are joined, because copying them takes less time than passing each to the system."""
RESET_ON_CLOSE = Struct("ii").pack(1, 0)
"""The value of SO_LINGER with which closing a socket sends RST instead of FIN."""
CLOSE_MS = 10_000
"""The time in which a closed connection may deliver its last responses before its transport is aborted."""

network_log = logging.getLogger("kafka.network.SocketServer")


class ClientProtocol(asyncio.BufferedProtocol):
    """The transport callbacks of a client at host:port that is connected to one listener of a broker."""

    def __init__(self, server: Server, broker: Broker, listener_name: str, host: str, port: int) -> None:
        self.server = server
        self._driver = server.driver
        self.broker = broker
        self.host = host
        self.connection = server.core.connect(broker, listener_name, host, port, self.flush, self._abort_transport)
        self._transport: asyncio.Transport | None = None
        self._tap: Tap | None = None
        self._vectored = False
        self._reading = True
        self._silent = False
        self._full = False
        self._failed_handshake = False

    @property
    def is_open(self) -> bool:
        """Whether there is a transport, so that asyncio will call `connection_lost`."""
        return self._transport is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        session: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        # uvloop's transports write the caller's buffers without a copy, see `_write`. TLS would keep the whole response encrypted.
        self._vectored = session is None and type(transport).__module__.startswith("uvloop")
        if self._vectored:
            # uvloop then writes at once instead of later in its iteration, so that a woken fetch is answered before other work is done.
            self._transport.set_write_buffer_limits(high=0)
        try:
            self.server.listeners.opened(self)
            if self.server.capture is not None:
                self.follow(self.server.capture, is_new=True)
            if session is not None and (certificate := session.getpeercert(binary_form=True)):
                from ..connections.authentication import identify_by_certificate

                identify_by_certificate(self.connection.client, self.broker, certificate)
        except CloseConnection as refused:
            self.connection.close(str(refused))
        except Exception as error:  # noqa: BLE001  (whatever it is, the connection ends)
            self.connection.abort(error, "opening it")
        if self.connection.core is not self.server.core:
            self.reset("the state of the cluster was replaced")
        elif self.connection.closing is not None:
            self._close(self._transport)
        elif self.broker.silence is not None:
            self.silence()
        self._driver.after_turn()

    def handshake_failed(self, reason: str) -> None:
        """Adds to the record why there is no TLS connection."""
        self._failed_handshake = True
        if self.connection.recording is not None:
            self.connection.recording.tell("handshake failed", reason, {"reason": reason})

    def not_opened(self, error: BaseException | None) -> None:
        """Ends a connection that could not be opened: its handshake failed or took too long, or the node has stopped (without an error)."""
        if isinstance(error, ConnectionResetError):
            self.connection.lost("the client has disconnected", by_client=True)
        reason = "the TLS handshake failed" if self._failed_handshake else str(error or "the node is stopped")
        self.abort(reason)

    def get_buffer(self, _sizehint: int) -> memoryview:
        return self.connection.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        """Serves the requests that have arrived and those that they woke, and writes all responses, with a data directory later."""
        driver, connection = self._driver, self.connection
        driver.begin_turn()
        if self._tap is not None:
            self._tap.received(connection.buffer()[:nbytes])
        connection.received(nbytes)
        if driver.core.write_changes is None:
            driver.after_turn()
        else:
            driver.end_turn_late()
        if self._reading and not connection.wants_data:
            self._reading = False
            self._open_transport.pause_reading()

    @property
    def _open_transport(self) -> asyncio.Transport:
        assert self._transport is not None  # noqa: S101  (it narrows a type)
        return self._transport

    def flush(self) -> None:
        """Writes the connection's output, or the next WRITE_BYTES of it. Closes a closing connection once all is written.

        The rest is written in the next turn, or when the transport's buffer has room again.
        """
        connection, transport = self.connection, self._transport
        if transport is None or self._silent or transport.is_closing():
            return
        if connection.output and connection.writable:
            self._write(transport)
        if connection.output and connection.writable:
            connection.flush_later()
        elif connection.closing is not None:
            self._close(transport)
        elif connection.writable:
            connection.flushed()
            if not self._reading:
                self._resume_reading()

    def _write(self, transport: asyncio.Transport) -> None:
        if self._tap is not None:
            return self._write_tapped(transport, self._tap)
        if self.connection.output_bytes <= JOINED_BYTES:
            transport.write(self.connection.take_joined())
        elif self._vectored:
            transport.writelines(self.connection.take_output())
        else:
            # asyncio's transports copy their input, and TLS encrypts it, so a long response is written in pieces. `writelines` is avoided
            # because it ignores back-pressure in some releases (CVE-2024-12254).
            transport.write(b"".join(self.connection.take_output(WRITE_BYTES)))

    def _write_tapped(self, transport: asyncio.Transport, tap: Tap) -> None:
        """Writes at most WRITE_BYTES, and copies them to a capture."""
        notes = [] if self.connection.recording is None else self.connection.recording.notes()
        data = b"".join(self.connection.take_output(WRITE_BYTES))
        tap.sent(data, notes)
        transport.write(data)

    def _close(self, transport: asyncio.Transport) -> None:
        """Closes the transport once all output is written, or aborts it after CLOSE_MS, because the peer may not read."""
        if self.connection.leaves_unread and not transport.get_write_buffer_size():
            _send_end(transport)
            _send_reset_on_close(transport)
        elif self.connection.resets:
            _send_reset_on_close(transport)
        timers = self.server.core.timers
        if self not in timers:
            timers.set(self, CLOSE_MS, transport.abort)
        if not self.connection.output:
            transport.close()

    def _resume_reading(self) -> None:
        if self.connection.wants_data:
            self._reading = True
            self._open_transport.resume_reading()

    def pause_writing(self) -> None:
        """Stops serving requests, because the peer does not read and the transport's buffer is full; uvloop's is full with one byte."""
        self._full = True
        self.connection.writable = False

    def resume_writing(self) -> None:
        """Serves requests again, because the transport's buffer has room."""
        self._full = False
        if not self._silent:
            self.connection.writable = True
            self.connection.ask_for_flush()
            self._driver.begin_turn()
            self._driver.after_turn()

    def silence(self) -> None:
        """Neither reads nor writes nor serves any more."""
        self._silent, self.connection.writable = True, False
        if self._reading and self._transport is not None:
            self._reading = False
            self._transport.pause_reading()

    def end_silence(self) -> None:
        """Reads, writes and serves again. The flush at the end of the turn does so."""
        self._silent, self.connection.writable = False, not self._full
        self.connection.ask_for_flush()

    def follow(self, capture: CaptureWriter | None, *, is_new: bool = False) -> None:
        """Begins to write what happens on the connection to a capture, or stops it with None."""
        from .tap import Tap

        self._tap = None if capture is None else Tap(capture, self.connection, self._open_transport, is_new=is_new)

    def abort(self, reason: str) -> None:
        """Closes the connection at once, without writing its output."""
        self.connection.lost(reason)
        self._abort_transport()

    def reset(self, reason: str) -> None:
        """Closes the connection at once with RST, so that the client discards what it has received and connects again."""
        if self._transport is not None:
            self.connection.resets = True
            _send_reset_on_close(self._transport)
        self.connection.resets = True
        self.abort(reason)

    def _abort_transport(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def eof_received(self) -> bool:
        """Returns False, so that asyncio closes the transport."""
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        """Releases the resources of the connection, so that another one may be accepted."""
        connection = self.connection
        self._end_tap(exc)
        if connection.closing is None:
            network_log.debug("[KafkaServer id=%d] %s has disconnected", self.broker.node_id, connection.client)
        self._driver.begin_turn()
        self.server.core.timers.cancel(self)
        try:
            connection.resets = connection.resets or isinstance(exc, ConnectionResetError)
            connection.lost("the client has disconnected", by_client=True)
        except Exception as error:  # noqa: BLE001  (whatever it is, the connection ends)
            connection.log_failure(error, "releasing its resources")
        finally:
            self.server.listeners.closed(self)
            self._driver.after_turn()

    def _end_tap(self, error: Exception | None) -> None:
        try:
            if self._tap is not None:
                self._tap.ended(error)
        except Exception as unexpected:  # noqa: BLE001  (whatever it is, the connection ends)
            self.connection.log_failure(unexpected, "capturing its end")


def _send_end(transport: asyncio.Transport) -> None:
    """Sends FIN. Has no effect if the connection is closed already, or encrypted."""
    connection: socket.socket | None = transport.get_extra_info("socket")
    if connection is not None and transport.get_extra_info("ssl_object") is None:
        with suppress(OSError), socket.socket(fileno=os.dup(connection.fileno())) as same:  # uvloop's object cannot do it
            same.shutdown(socket.SHUT_WR)


def _send_reset_on_close(transport: asyncio.Transport) -> None:
    """Makes a transport send RST when it is closed. Has no effect if the connection is closed already."""
    connection: socket.socket | None = transport.get_extra_info("socket")
    if connection is not None:  # as it is for a TLS connection that the peer has closed
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
