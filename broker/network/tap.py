"""Copies what happens on one connection to a capture: its bytes after decryption, as they are read and written, and its end.

A connection that was open before the capture began is captured from the first request on that arrives while no other is being served,
because a reader of the capture has to find the start of a frame. The same applies after a gap.
"""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ...protocol.frame import Buffer
from ..connections.connection import Connection
from ..wire.captured_connection import CapturedConnection
from ..wire.packets import FIN, RST, Address, canonical, ip_bytes
from .capture import CaptureWriter

if TYPE_CHECKING:
    import asyncio

_OPEN_TO_CLIENT = {4, 5}
"""The states FIN_WAIT1 and FIN_WAIT2 of Linux's tcp_states.h: FIN was sent, and the client has not sent its own."""
_AFTER_FIN = {*_OPEN_TO_CLIENT, 6, 7, 9, 11}
"""The states after FIN was sent, in addition TIME_WAIT, CLOSE, LAST_ACK and CLOSING."""


class Tap:
    """The tap of a connection and its transport. `is_new` is False for a connection that was open when the capture began."""

    def __init__(self, capture: CaptureWriter, connection: Connection, transport: asyncio.Transport, *, is_new: bool) -> None:
        self._capture = capture
        self._connection = connection
        self._transport = transport
        node_id, client = connection.broker.node_id, connection.client
        broker = canonical(node_id) if capture.options.canonical else _address(transport.get_extra_info("sockname"))
        self._captured = CapturedConnection(capture.section, node_id, Address(ip_bytes(client.client_host), client.client_port), broker)
        self._missed = {True: 0, False: 0}
        self._live = is_new and capture.has_room()
        self._begun = self._live
        """Whether the capture contains anything of the connection."""
        if self._live:
            capture.put(0, partial(self._captured.opened, time.time_ns()))

    def received(self, data: memoryview) -> None:
        """Copies received bytes, before the connection serves them."""
        if not self._live:
            self._resume()
        self._copy(True, data.tobytes() if self._live else data)

    def sent(self, data: bytes, notes: Sequence[str]) -> None:
        """Copies bytes that are passed to the transport. `notes` are comments on their last packet."""
        self._copy(False, data, notes)

    def ended(self, error: Exception | None) -> None:
        """Adds the end of the connection, before its socket is closed. `error` is that of the socket, None if there is none."""
        if self._begun and self._capture.has_room():
            self._add_gap()
            reason = self._connection.closing
            how = _how_broker_ends(self._connection, self._transport) if reason is not None else _how_client_ends(error)
            recording = self._connection.recording
            notes = [] if recording is None else recording.notes_of_unanswered()
            ended = partial(self._captured.ended, by_client=reason is None, how=how, reason=reason or "", comments=notes)
            self._capture.put(0, partial(ended, time.time_ns()))

    def _copy(self, from_client: bool, data: Buffer, notes: Sequence[str] = ()) -> None:
        if self._live and self._capture.has_room():
            self._capture.put(len(data), partial(self._captured.data, time.time_ns(), from_client, data, notes))
        else:
            self._live = False
            self._missed[from_client] += len(data)

    def _resume(self) -> None:
        """Captures the connection again if it is at rest and the queue has room."""
        unserved = self._connection.unserved
        if unserved is None or not self._capture.has_room():
            return
        if self._begun:
            self._missed[True] -= min(len(unserved), self._missed[True])
            self._add_gap()
        else:
            self._missed = {True: 0, False: 0}
            self._capture.put(0, self._captured.joined)
        self._live = self._begun = True
        if unserved:
            self._copy(True, bytes(unserved))

    def _add_gap(self) -> None:
        received, sent = self._missed[True], self._missed[False]
        if received or sent:
            self._missed = {True: 0, False: 0}
            self._capture.put(0, partial(self._captured.missing, time.time_ns(), received, sent))


def _address(name: Any) -> Address:
    host, port, *_ = name
    return Address(ip_bytes(host), port)


def _how_client_ends(error: Exception | None) -> tuple[int, ...]:
    return (RST,) if isinstance(error, ConnectionError) else (FIN,)


def _how_broker_ends(connection: Connection, transport: asyncio.Transport) -> tuple[int, ...]:
    """Returns the flags with which the kernel ends the connection, whose socket is closed next.

    If FIN was sent before, RST follows unless the client has answered with its own FIN: then both sides have ended already.
    """
    state = _state(transport)
    sends_reset = connection.resets or connection.leaves_unread or _has_unread_bytes(transport)
    if state in _AFTER_FIN:
        return (FIN, RST) if sends_reset and state in _OPEN_TO_CLIENT else (FIN,)
    return (RST,) if sends_reset else (FIN,)


def _state(transport: asyncio.Transport) -> int | None:
    """Returns the state of the connection in the kernel, None if the system does not tell it."""
    connection = transport.get_extra_info("socket")
    if connection is None or not hasattr(socket, "TCP_INFO"):
        return None
    try:
        return int(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0])
    except (OSError, ValueError):  # the socket is closed
        return None


def _has_unread_bytes(transport: asyncio.Transport) -> bool:
    """Returns whether the kernel holds bytes that nobody has read, so that it sends RST instead of FIN when the socket is closed."""
    if sys.platform == "win32":
        return False
    import fcntl
    import termios

    connection = transport.get_extra_info("socket")
    if connection is None:  # as it is for a TLS connection that the peer has closed
        return False
    try:
        return any(fcntl.ioctl(connection.fileno(), termios.FIONREAD, bytes(4)))
    except (OSError, ValueError):  # the socket is closed
        return False
