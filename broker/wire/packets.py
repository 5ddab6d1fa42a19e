"""Packets of a capture: the blocks of a pcapng file, and the packets of TCP connections in them.

The layout of blocks is that of the IETF draft "PCAP Next Generation (pcapng) Capture File Format". Numbers are little-endian, times are
nanoseconds. The packets are those that a broker can write that sees only the bytes of a connection. Sequence numbers start with 0 in both
directions, and every packet acknowledges what the other side has sent before. Segments are as large as the reads and writes of the broker.
Retransmissions and pure acknowledgements, which only the kernel sees, are missing. The windows are large, so that no reader of a capture
takes a long response for a full window. Checksums of TCP are 0, as they are when a network card computes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from struct import Struct
from typing import NamedTuple

SECTION, INTERFACE, PACKET = 0x0A0D0D0A, 1, 6
BYTE_ORDER = 0x1A2B3C4D
LINKTYPE_RAW = 101
"""The link type of packets that begin with the header of IPv4 or IPv6."""
COMMENT_BYTES = 8192
"""The most bytes of one comment. Options have a 16-bit length, and the text may contain data of a client."""
FAULT, WAITED, CLOSED = "fault: ", "waited for: ", "closed by the broker: "
"""The beginnings of lines in comments that say more about an exchange than its bytes."""
END_OF_OPTIONS, COMMENT, APPLICATION, INTERFACE_NAME, DESCRIPTION, RESOLUTION, FLAGS = 0, 1, 4, 2, 3, 9, 2
INBOUND, OUTBOUND = 1, 2
_NANOSECONDS = b"\x09"
_BLOCK = Struct("<II")
_TOTAL = Struct("<I")
_OPTION = Struct("<HH")
_SECTION = Struct("<IHHq")
_INTERFACE = Struct("<HHI")
_PACKET = Struct("<IIIII")


def section_header(application: str) -> bytes:
    """Returns the block with which a file begins. `application` is the name of the program that writes the file."""
    return _block(SECTION, _SECTION.pack(BYTE_ORDER, 1, 0, -1) + _options([(APPLICATION, application.encode())]))


def interface(name: str, description: str) -> bytes:
    """Returns the description of an interface. Packets refer to interfaces by their number in the file."""
    options = [(INTERFACE_NAME, name.encode()), (DESCRIPTION, description.encode()), (RESOLUTION, _NANOSECONDS)]
    return _block(INTERFACE, _INTERFACE.pack(LINKTYPE_RAW, 0, 0) + _options(options))


def packet(interface_number: int, time_ns: int, data: bytes, direction: int, comment: str = "") -> bytes:
    """Returns a packet that was seen at `time_ns` after the Unix epoch, with a comment unless it is empty."""
    options = [(COMMENT, _shorten(comment.encode(errors="replace")))] if comment else []
    options.append((FLAGS, direction.to_bytes(4, "little")))
    head = _PACKET.pack(interface_number, time_ns >> 32, time_ns & 0xFFFFFFFF, len(data), len(data))
    return _block(PACKET, head + data + bytes(-len(data) % 4) + _options(options))


def _block(kind: int, body: bytes) -> bytes:
    size = len(body) + 12
    return _BLOCK.pack(kind, size) + body + _TOTAL.pack(size)


def _options(options: list[tuple[int, bytes]]) -> bytes:
    written = [_OPTION.pack(code, len(value)) + value + bytes(-len(value) % 4) for code, value in options]
    return b"".join(written) + _OPTION.pack(END_OF_OPTIONS, 0)


def _shorten(text: bytes) -> bytes:
    return text if len(text) <= COMMENT_BYTES else text[:COMMENT_BYTES].decode(errors="ignore").encode()


FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10
MAX_SEGMENT_BYTES = 65_495
"""The largest payload of an IPv4 packet with a TCP header without options."""
TCP = 6
_IPV4 = Struct(">BBHHHBBH4s4s")
_IPV6 = Struct(">IHBB16s16s")
_TCP = Struct(">HHIIBBHHH")
_DONT_FRAGMENT, _TIME_TO_LIVE, _WINDOW = 0x4000, 64, 65_535
_SYN_OPTIONS = bytes.fromhex("0204ffd7 0103030e")
"""A maximum segment size of 65,495 bytes, and a window scale of 14, with which the window is 1 GiB."""


class Address(NamedTuple):
    """An IP address in 4 or 16 bytes, and a port."""

    ip: bytes
    port: int


class Side:
    """One direction of a connection: its address and the sequence number of the next byte."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.next = 0

    def advance(self, n: int) -> None:
        self.next = (self.next + n) & 0xFFFFFFFF


class TcpPackets:
    """Builds the packets of a connection between a client and a broker, in the order in which the methods are called."""

    def __init__(self, client: Address, broker: Address) -> None:
        if len(client.ip) != len(broker.ip):
            client, broker = _as_ipv6(client), _as_ipv6(broker)
        self._client = Side(client)
        self._broker = Side(broker)

    def handshake(self) -> list[bytes]:
        """Returns the three packets with which the client connects."""
        return [self._packet(True, SYN), self._packet(False, SYN | ACK), self._packet(True, ACK)]

    def skip_handshake(self) -> None:
        """Begins with a connection that has been open for some time: its first packets are not written."""
        self._client.advance(1)
        self._broker.advance(1)

    def data(self, from_client: bool, payload: bytes) -> Iterator[bytes]:
        """Yields the segments of some bytes."""
        for start in range(0, len(payload), MAX_SEGMENT_BYTES):
            yield self._packet(from_client, PSH | ACK, payload[start : start + MAX_SEGMENT_BYTES])

    def skip_bytes(self, from_client: bool, n: int) -> None:
        """Leaves out `n` bytes, so that a reader notices that they are missing."""
        self._sides(from_client)[0].advance(n)

    def ending(self, by_client: bool, flag: int) -> bytes:
        """Returns the packet with FIN or RST, with which one side closes the connection."""
        return self._packet(by_client, flag | ACK)

    def _sides(self, from_client: bool) -> tuple[Side, Side]:
        return (self._client, self._broker) if from_client else (self._broker, self._client)

    def _packet(self, from_client: bool, flags: int, payload: bytes = b"") -> bytes:
        sender, receiver = self._sides(from_client)
        options = _SYN_OPTIONS if flags & SYN else b""
        offset = (_TCP.size + len(options)) // 4 << 4
        acknowledged = receiver.next if flags & ACK else 0
        ports = sender.address.port, receiver.address.port
        segment = _TCP.pack(*ports, sender.next, acknowledged, offset, flags, _WINDOW, 0, 0) + options + payload
        sender.advance(len(payload) + bool(flags & (SYN | FIN)))
        return _ip_header(sender.address.ip, receiver.address.ip, len(segment)) + segment


def _ip_header(source: bytes, destination: bytes, size: int) -> bytes:
    if len(source) == 16:
        return _IPV6.pack(6 << 28, size, TCP, _TIME_TO_LIVE, source, destination)
    fields = (0x45, 0, _IPV4.size + size, 0, _DONT_FRAGMENT, _TIME_TO_LIVE, TCP)
    header = _IPV4.pack(*fields, 0, source, destination)
    return _IPV4.pack(*fields, _checksum(header), source, destination)


def _checksum(header: bytes) -> int:
    total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, len(header), 2))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def ip_bytes(host: str) -> bytes:
    """Returns an IP address in 4 bytes, or in 16 for an IPv6 address that stands for no IPv4 address. Loopback is 127.0.0.1."""
    found = ip_address(host.partition("%")[0])
    if isinstance(found, IPv6Address):
        found = found.ipv4_mapped or (IPv4Address("127.0.0.1") if found.is_loopback else found)
    return found.packed


def canonical(node_id: int) -> Address:
    """Returns the address under which a node appears: 127.0.0.n:9092, which Wireshark takes for Kafka without settings."""
    return Address((0x7F000000 | node_id & 0xFFFFFF).to_bytes(4, "big"), 9092)


def _as_ipv6(address: Address) -> Address:
    return address if len(address.ip) == 16 else Address(bytes(10) + b"\xff\xff" + address.ip, address.port)
