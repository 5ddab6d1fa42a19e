"""Turns what happens on connections into blocks of a capture file.

A file can be begun again at any time (`Section.restart`), because a capture is rotated by size. Each file describes its interfaces, one for
each node, and can be read without the others. The rest of a frame that began in the previous file is left out of the next one, so that a
reader finds the start of a frame first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...protocol.frame import Buffer
from .captured_stream import CapturedStream
from .packets import CLOSED, FIN, INBOUND, OUTBOUND, Address, TcpPackets, interface, packet, section_header


class Section:
    """A file of a capture. `number` counts the files, and `blocks` are the blocks that are not written yet."""

    def __init__(self, application: str) -> None:
        self._application = application
        self.number = 0
        self._interfaces: dict[int, int] = {}
        self.blocks: list[bytes] = []
        self.restart()

    def restart(self) -> None:
        """Begins another file."""
        self.number += 1
        self._interfaces.clear()
        self.blocks.append(section_header(self._application))

    def packets(self, node_id: int, time_ns: int, packets: Iterable[bytes], *, inbound: bool, comment: str = "") -> None:
        """Adds packets of a connection to a node. The comment is that of the last packet."""
        listed = list(packets)
        for number, data in enumerate(listed, 1):
            text = comment if number == len(listed) else ""
            self.blocks.append(packet(self._interface(node_id), time_ns, data, INBOUND if inbound else OUTBOUND, text))

    def _interface(self, node_id: int) -> int:
        if node_id not in self._interfaces:
            self._interfaces[node_id] = len(self._interfaces)
            self.blocks.append(interface(f"broker-{node_id}", f"node {node_id}"))
        return self._interfaces[node_id]


class CapturedConnection:
    """A connection of a client to a node, whose packets go to a section. Times are nanoseconds since the Unix epoch."""

    def __init__(self, section: Section, node_id: int, client: Address, broker: Address) -> None:
        self._section = section
        self._node_id = node_id
        self._packets = TcpPackets(client, broker)
        self._stream = CapturedStream()
        self._number = section.number
        self._outdated = {True: 0, False: 0}
        """The bytes in each direction that belong to a frame in the previous file."""
        self._notes: dict[bool, list[str]] = {True: [], False: []}
        """The comments in each direction on bytes that are not shown yet."""

    def opened(self, time_ns: int) -> None:
        """Called when the client has connected."""
        for number, data in enumerate(self._packets.handshake()):
            self._section.packets(self._node_id, time_ns, [data], inbound=number != 1)

    def joined(self) -> None:
        """Called instead of `opened` for a connection that has been open for some time."""
        self._packets.skip_handshake()

    def data(self, time_ns: int, from_client: bool, data: Buffer, comments: Sequence[str] = ()) -> None:
        """Called when bytes were read from the client, or written to it."""
        if self._section.number != self._number:
            self._number = self._section.number
            self._outdated = {direction: self._stream.remaining(direction) for direction in (True, False)}
        piece = self._stream.show(from_client, data)
        self._notes[from_client] += [*comments, *piece.comments]
        self._add(time_ns, from_client, piece.data)

    def missing(self, time_ns: int, received: int, sent: int) -> None:
        """Called when bytes in each direction were not captured. The following bytes begin with a frame of the client."""
        self._add_rest(time_ns)
        self._packets.skip_bytes(True, received)
        self._packets.skip_bytes(False, sent)
        self._stream = CapturedStream()
        self._outdated = {True: 0, False: 0}
        self._notes[True].append(f"gap: {received} bytes to the broker and {sent} bytes from it are missing; the capture was too slow")

    def ended(self, time_ns: int, *, by_client: bool, how: Sequence[int], reason: str, comments: Sequence[str] = ()) -> None:
        """Called when the connection was closed with FIN, RST or both. The comments are on the request in flight."""
        self._add_rest(time_ns)
        notes = [*self._notes[True], *self._notes[False], *comments, *([] if by_client else [f"{CLOSED}{reason}"])]
        for number, flag in enumerate(how):
            packet = self._packets.ending(by_client, flag)
            self._section.packets(self._node_id, time_ns, [packet], inbound=by_client, comment="" if number else "\n".join(notes))
        if by_client and how == (FIN,):
            self._section.packets(self._node_id, time_ns, [self._packets.ending(False, FIN)], inbound=False)

    def _add_rest(self, time_ns: int) -> None:
        for from_client in (True, False):
            self._add(time_ns, from_client, self._stream.rest(from_client))

    def _add(self, time_ns: int, from_client: bool, data: bytes) -> None:
        outdated = min(self._outdated[from_client], len(data))
        self._outdated[from_client] -= outdated
        self._packets.skip_bytes(from_client, outdated)
        if shown := data[outdated:]:
            notes, self._notes[from_client] = self._notes[from_client], []
            packets = self._packets.data(from_client, shown)
            self._section.packets(self._node_id, time_ns, packets, inbound=from_client, comment="\n".join(notes))
