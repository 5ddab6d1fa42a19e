"""Finds the TCP segment in a captured packet: below loopback, Ethernet, Linux cooked (v1 and v2) and raw headers, in IPv4 and IPv6.

Everything else is not a segment: other protocols, fragments, and packets whose headers are incomplete.
"""

from __future__ import annotations

from struct import Struct
from struct import error as struct_error
from typing import NamedTuple

from ..packets import TCP, Address

NULL, ETHERNET, LOOP, COOKED, COOKED_V2 = 0, 1, 108, 113, 276
RAW = {12, 14, 101, 228, 229}
"""The link types of packets without a link layer: those of several BSDs, of libpcap, and of IPv4 or IPv6 only."""
IPV4, IPV6, VLAN, QINQ = 0x0800, 0x86DD, 0x8100, 0x88A8
_EXTENSIONS = {0, 43, 60}
"""The extension headers of IPv6 that may come before TCP: hop-by-hop options, routing, and destination options."""
MAX_EXTENSIONS = 8
MORE_FRAGMENTS_OR_OFFSET = 0x3FFF
_TCP = Struct(">HHIIBB")


class TcpSegment(NamedTuple):
    """A TCP segment. `payload` are the captured bytes of the `size` bytes that it carries."""

    source: Address
    destination: Address
    sequence: int
    acknowledged: int
    flags: int
    payload: memoryview
    size: int


def segment_of(link_type: int, data: memoryview) -> TcpSegment | None:
    """Returns the TCP segment in a packet, None if there is none."""
    try:
        packet = _ip_packet(link_type, data)
        if packet is None or not packet:
            return None
        return _of_ipv4(packet) if packet[0] >> 4 == 4 else _of_ipv6(packet) if packet[0] >> 4 == 6 else None
    except (struct_error, IndexError):
        return None


def _ip_packet(link_type: int, data: memoryview) -> memoryview | None:
    if link_type in RAW:
        return data
    if link_type in (NULL, LOOP):  # the family of addresses, whose numbers differ between systems
        return data[4:]
    if link_type == ETHERNET:
        return _of_type(data, 12)
    if link_type == COOKED:
        return data[16:] if _uint16(data, 14) in (IPV4, IPV6) else None
    if link_type == COOKED_V2:
        return data[20:] if _uint16(data, 0) in (IPV4, IPV6) else None
    return None


def _of_type(data: memoryview, position: int) -> memoryview | None:
    """Returns the packet behind an Ethernet type, and behind the tags of VLANs before it."""
    while (kind := _uint16(data, position)) in (VLAN, QINQ):
        position += 4
    return data[position + 2 :] if kind in (IPV4, IPV6) else None


def _uint16(data: memoryview, position: int) -> int:
    return data[position] << 8 | data[position + 1]


def _of_ipv4(packet: memoryview) -> TcpSegment | None:
    header, total = (packet[0] & 15) * 4, _uint16(packet, 2)
    if packet[9] != TCP or header < 20 or _uint16(packet, 6) & MORE_FRAGMENTS_OR_OFFSET:
        return None
    # A packet that the network card is going to divide has no total length.
    size = max(total - header, 0) if total else len(packet) - header
    return _of_tcp(packet[12:16].tobytes(), packet[16:20].tobytes(), packet[header:], size)


def _of_ipv6(packet: memoryview) -> TcpSegment | None:
    kind, position, end = packet[6], 40, 40 + _uint16(packet, 4)
    if end == 40:
        end = len(packet)
    for _ in range(MAX_EXTENSIONS):
        if kind not in _EXTENSIONS:
            break
        kind, position = packet[position], position + 8 + packet[position + 1] * 8
    if kind != TCP:
        return None
    return _of_tcp(packet[8:24].tobytes(), packet[24:40].tobytes(), packet[position:], end - position)


def _of_tcp(source: bytes, destination: bytes, data: memoryview, size: int) -> TcpSegment | None:
    from_port, to_port, sequence, acknowledged, offset, flags = _TCP.unpack_from(data)
    header = (offset >> 4) * 4
    if header < 20 or size < header:
        return None
    payload = data[header:size]
    return TcpSegment(Address(source, from_port), Address(destination, to_port), sequence, acknowledged, flags, payload, size - header)
