from __future__ import annotations

from random import Random

import pytest

from odradek.broker.wire.packets import Address, TcpPackets, ip_bytes
from odradek.broker.wire.reading.segments import COOKED, COOKED_V2, ETHERNET, LOOP, NULL, segment_of

CLIENT, BROKER = Address(b"\x7f\0\0\1", 40_000), Address(b"\x7f\0\0\1", 9092)
(PACKET,) = TcpPackets(CLIENT, BROKER).data(True, b"payload")
(PACKET_6,) = TcpPackets(Address(ip_bytes("fe80::1"), 1), Address(ip_bytes("fe80::2"), 2)).data(True, b"payload")
MACS = bytes(12)


@pytest.mark.parametrize(
    ("link_type", "header"),
    [
        (101, b""),
        (228, b""),
        (NULL, b"\2\0\0\0"),
        (LOOP, b"\0\0\0\2"),
        (ETHERNET, MACS + b"\x08\0"),
        (ETHERNET, MACS + b"\x81\0\0\5\x88\xa8\0\6\x08\0"),
        (COOKED, bytes(14) + b"\x08\0"),
        (COOKED_V2, b"\x08\0" + bytes(18)),
    ],
)
def test_segment_is_found_below_each_link_layer(link_type: int, header: bytes) -> None:
    segment = segment_of(link_type, memoryview(header + PACKET))
    assert segment is not None
    assert (segment.source, segment.destination, segment.payload, segment.size) == (CLIENT, BROKER, b"payload", 7)


def test_segment_leaves_out_the_padding_of_ethernet() -> None:
    segment = segment_of(ETHERNET, memoryview(MACS + b"\x08\0" + PACKET + bytes(10)))
    assert segment is not None and segment.payload == b"payload"


def test_segment_of_ipv6_follows_extension_headers() -> None:
    extended = bytearray(PACKET_6[:40] + b"\x06\0" + bytes(6) + PACKET_6[40:])
    extended[6], extended[4:6] = 0, (len(extended) - 40).to_bytes(2, "big")
    for packet in (PACKET_6, bytes(extended)):
        segment = segment_of(101, memoryview(packet))
        assert segment is not None and segment.payload == b"payload"


def test_segment_knows_bytes_that_were_not_captured() -> None:
    segment = segment_of(101, memoryview(PACKET[:-3]))
    assert segment is not None
    assert (segment.payload, segment.size) == (b"payl", 7)


def test_segment_without_total_length_is_read_to_the_end() -> None:
    for packet, at in ((PACKET, 2), (PACKET_6, 4)):
        offloaded = bytearray(packet)
        offloaded[at : at + 2] = bytes(2)
        segment = segment_of(101, memoryview(offloaded))
        assert segment is not None and segment.payload == b"payload"


@pytest.mark.parametrize("link_type", [101, ETHERNET, COOKED, COOKED_V2, NULL, 147])
def test_other_packets_are_no_segments(link_type: int) -> None:
    udp, fragment = bytearray(PACKET), bytearray(PACKET)
    udp[9], fragment[7] = 17, 1
    arp = MACS + b"\x08\x06" + bytes(28)
    for data in (udp, fragment, arp, b"", b"\x45", b"\x70" + bytes(60), PACKET[:30]):
        assert segment_of(link_type, memoryview(bytes(data))) is None


def test_damaged_packets_raise_nothing() -> None:
    random = Random(1)
    for _ in range(3000):
        damaged = bytearray(random.choice([PACKET, PACKET_6]))
        for _ in range(3):
            damaged[random.randrange(len(damaged))] = random.randrange(256)
        segment = segment_of(101, memoryview(damaged)[: random.randrange(len(damaged))])
        assert segment is None or len(segment.payload) <= segment.size
