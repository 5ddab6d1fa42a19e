"""The packets of one TCP connection, as a broker that sees only its bytes can write them.

Sequence numbers start with 0 in both directions, and every packet acknowledges what the other side has sent before. Segments are as large
as the reads and writes of the broker. Retransmissions and pure acknowledgements, which only the kernel sees, are missing. The windows are
large, so that no reader of a capture takes a long response for a full window. Checksums of TCP are 0, as they are when a network card
computes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, ip_address
from struct import Struct
from typing import NamedTuple

FIN, SYN, RST, PSH, ACK = 0x01, 0x02, 0x04, 0x08, 0x10
MAX_SEGMENT_BYTES = 65_495
"""The largest payload of an IPv4 packet with a TCP header without options."""
TCP = 6
_IPV4 = Struct(">BBHHHBBH4s4s")
_IPV6 = Struct(">IHBB16s16s")
_TCP = Struct(">HHIIBBHHH")
_DONT_FRAGMENT, _TIME_TO_LIVE, _WINDOW = 0x4000, 64, 65_535
_SYN_OPTIONS = bytes.fromhex("0204ffd7 0103030e".replace(" ", ""))
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

    def opened(self) -> list[bytes]:
        """Returns the three packets with which the client connects."""
        return [self._packet(True, SYN), self._packet(False, SYN | ACK), self._packet(True, ACK)]

    def joined(self) -> None:
        """Begins with a connection that has been open for some time: its first packets are not written."""
        self._client.advance(1)
        self._broker.advance(1)

    def data(self, from_client: bool, payload: bytes) -> Iterator[bytes]:
        """Yields the segments of some bytes."""
        for start in range(0, len(payload), MAX_SEGMENT_BYTES):
            yield self._packet(from_client, PSH | ACK, payload[start : start + MAX_SEGMENT_BYTES])

    def missing(self, from_client: bool, n: int) -> None:
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


def packed(host: str) -> bytes:
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
