"""Reads the packets of a pcap or pcapng file, in either byte order.

A file may come from anybody: no length in it is trusted before it has been compared with a limit, and reading ends at the first damage.
The packets before it are valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from struct import error as struct_error
from typing import BinaryIO, Literal, NamedTuple

from ..packets import BYTE_ORDER, COMMENT, END_OF_OPTIONS, INTERFACE, INTERFACE_NAME, PACKET, RESOLUTION, SECTION

MAX_BLOCK_BYTES = 64 * 1024 * 1024
MAX_INTERFACES = 10_000
SIMPLE_PACKET, OLD_PACKET = 3, 2
_PCAP = {b"\xa1\xb2\xc3\xd4": (">", 1000), b"\xd4\xc3\xb2\xa1": ("<", 1000), b"\xa1\xb2\x3c\x4d": (">", 1), b"\x4d\x3c\xb2\xa1": ("<", 1)}
"""The first bytes of a pcap file, with its byte order and the unit of its times in nanoseconds."""
_LINK_TYPE = 0x0FFFFFFF  # the other bits of the field describe frame check sequences


class NotACapture(Exception):
    """The file is neither pcap nor pcapng."""


class Packet(NamedTuple):
    """A packet, of which `data` was captured, at `time_ns` after the Unix epoch. `interface` is the name of where it was seen."""

    time_ns: int
    link_type: int
    data: memoryview
    comments: tuple[str, ...]
    interface: str


class CaptureFile:
    """The packets of an open file. Raises NotACapture. `problem` says why reading ended before the end of the file, if it did."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._read_bytes = 0
        self.problem: str | None = None
        self._magic = self._read(4)
        if self._magic not in _PCAP and self._magic != SECTION.to_bytes(4, "big"):
            raise NotACapture("it begins neither like a pcap file nor like a pcapng file")

    def packets(self) -> Iterator[Packet]:
        """Yields the packets in the order of the file."""
        try:
            yield from self._pcap(*_PCAP[self._magic]) if self._magic in _PCAP else self._pcapng()
        except _Damaged as damaged:
            self.problem = f"the capture {damaged} at byte {self._read_bytes}; what precedes it is shown"

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size and (more := self._stream.read(size - len(data))):
            data += more
        self._read_bytes += len(data)
        return bytes(data)

    def _read_all(self, size: int) -> bytes:
        """Returns the next bytes. Raises _Damaged at the end of the file."""
        if len(data := self._read(size)) < size:
            raise _Damaged("is truncated")
        return data

    # pcap

    def _pcap(self, order: str, unit_ns: int) -> Iterator[Packet]:
        *_, link_type = Struct(order + "HHiIII").unpack(self._read_all(20))
        header = Struct(order + "IIII")
        while head := self._read(header.size):
            if len(head) < header.size:
                raise _Damaged("is truncated")
            seconds, fraction, size, _ = header.unpack(head)
            if size > MAX_BLOCK_BYTES:
                raise _Damaged(f"has a packet of {size} bytes")
            data = memoryview(self._read_all(size))
            yield Packet(seconds * 1_000_000_000 + fraction * unit_ns, link_type & _LINK_TYPE, data, (), "")

    # pcapng

    def _pcapng(self) -> Iterator[Packet]:
        section = self._section()
        while kind := self._read(4):
            if kind == self._magic:
                section = self._section()
                continue
            if len(kind) < 4:
                raise _Damaged("is truncated")
            body = self._body(section.uint32(self._read_all(4)), 8)
            found = section.read(int.from_bytes(kind, section.byte_order), memoryview(body))
            if found is not None:
                yield found

    def _section(self) -> _Section:
        head = self._read_all(8)
        order = {BYTE_ORDER.to_bytes(4, "little"): "<", BYTE_ORDER.to_bytes(4, "big"): ">"}.get(head[4:])
        if order is None:
            raise _Damaged("has a section without a byte order")
        section = _Section(order)
        self._body(section.uint32(head), 12)
        return section

    def _body(self, size: int, read: int) -> bytes:
        """Returns the rest of a block of which `read` bytes have been read, without its final length."""
        if size % 4 or not read + 4 <= size <= MAX_BLOCK_BYTES:
            raise _Damaged(f"has a block of {size} bytes")
        return self._read_all(size - read)[:-4]


class _Damaged(Exception):
    """The file ends early or contains an impossible length."""


class _Interface(NamedTuple):
    link_type: int
    name: str
    unit: int
    """The number of units of time in a second."""


class _Section:
    """A section of a pcapng file with its interfaces."""

    def __init__(self, order: str) -> None:
        self.byte_order: Literal["little", "big"] = "little" if order == "<" else "big"
        self._order = order
        self._interfaces: list[_Interface] = []

    def uint32(self, data: bytes) -> int:
        (value,) = Struct(self._order + "I").unpack_from(data)
        return int(value)

    def read(self, kind: int, body: memoryview) -> Packet | None:
        """Returns the packet in a block, None if the block is not a packet. Raises _Damaged."""
        try:
            if kind == INTERFACE:
                self._add_interface(body)
            elif kind == PACKET:
                return self._packet(body, *Struct(self._order + "IIIII").unpack_from(body), head=20)
            elif kind == OLD_PACKET:
                number, _, high, low, size, whole = Struct(self._order + "HHIIII").unpack_from(body)
                return self._packet(body, number, high, low, size, whole, head=20)
            elif kind == SIMPLE_PACKET:
                size = min(len(body) - 4, self.uint32(body[:4].tobytes()))
                return Packet(0, self._interface(0).link_type, body[4 : 4 + size], (), self._interface(0).name)
        except (ValueError, IndexError, struct_error):
            raise _Damaged("has a damaged block") from None
        return None

    def _interface(self, number: int) -> _Interface:
        return self._interfaces[number]

    def _add_interface(self, body: memoryview) -> None:
        if len(self._interfaces) == MAX_INTERFACES:
            raise ValueError("too many interfaces")
        link_type, _, _ = Struct(self._order + "HHI").unpack_from(body)
        options = dict(self._options(body[8:]))
        resolution = options.get(RESOLUTION, b"\x06")[:1]
        exponent = resolution[0] & 0x7F if resolution else 6
        if exponent > 63:
            raise ValueError("impossible resolution")
        unit = 2**exponent if resolution and resolution[0] & 0x80 else 10**exponent
        self._interfaces.append(_Interface(link_type, options.get(INTERFACE_NAME, b"").decode(errors="replace"), unit))

    def _packet(self, body: memoryview, number: int, high: int, low: int, size: int, _: int, *, head: int) -> Packet:
        interface = self._interface(number)
        if head + size > len(body):
            raise ValueError("the packet is larger than its block")
        data = body[head : head + size]
        options = self._options(body[head + size + -size % 4 :])
        comments = tuple(text.decode(errors="replace") for code, text in options if code == COMMENT)
        time_ns = ((high << 32) + low) * 1_000_000_000 // interface.unit
        return Packet(time_ns, interface.link_type, data, comments, interface.name)

    def _options(self, data: memoryview) -> Iterator[tuple[int, bytes]]:
        header = Struct(self._order + "HH")
        while len(data) >= header.size:
            code, size = header.unpack_from(data)
            if code == END_OF_OPTIONS or header.size + size > len(data):
                return
            yield code, data[header.size : header.size + size].tobytes()
            data = data[header.size + size + -size % 4 :]
