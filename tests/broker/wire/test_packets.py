from __future__ import annotations

from io import BytesIO

import pytest

from odradek.broker.wire.packets import (
    ACK,
    COMMENT_BYTES,
    FIN,
    INBOUND,
    LINKTYPE_RAW,
    MAX_SEGMENT_BYTES,
    RST,
    SYN,
    Address,
    TcpPackets,
    canonical,
    interface,
    ip_bytes,
    packet,
    section_header,
)
from odradek.broker.wire.reading.file_format import CaptureFile, Packet
from odradek.broker.wire.reading.segments import segment_of


def read(*blocks: bytes) -> list[Packet]:
    file = CaptureFile(BytesIO(b"".join(blocks)))
    packets = list(file.packets())
    assert file.problem is None
    return packets


def test_packet_block_keeps_time_data_and_comment() -> None:
    time_ns = 1_700_000_000_123_456_789
    (found,) = read(section_header("tests"), interface("broker-1", "node 1"), packet(0, time_ns, b"abcde", INBOUND, "grün\nzwei"))
    assert found == Packet(time_ns, LINKTYPE_RAW, memoryview(b"abcde"), ("grün\nzwei",), "broker-1")


def test_packet_block_without_comment_has_none() -> None:
    (found,) = read(section_header("tests"), interface("broker-1", "node 1"), packet(0, 0, b"", INBOUND))
    assert (found.data, found.comments) == (b"", ())


def test_comment_of_any_length_is_cut_between_characters() -> None:
    (found,) = read(section_header("tests"), interface("a", "b"), packet(0, 0, b"x", INBOUND, "ä" * 100_000 + "\ud800"))
    assert found.comments == ("ä" * (COMMENT_BYTES // 2),)


RAW = 101
CLIENT, BROKER = Address(b"\x7f\0\0\1", 40_000), canonical(2)


def flags_and_numbers(packets: list[bytes]) -> list[tuple[int, int, int, int]]:
    segments = [segment_of(RAW, memoryview(packet)) for packet in packets]
    return [(each.flags & ~8, each.sequence, each.acknowledged, each.size) for each in segments if each is not None]


def test_packets_of_a_connection_count_bytes_and_flags() -> None:
    packets = TcpPackets(CLIENT, BROKER)
    sent = [
        *packets.handshake(),
        *packets.data(True, b"abc"),
        *packets.data(False, b"defg"),
        packets.ending(True, FIN),
        packets.ending(False, RST),
    ]
    assert flags_and_numbers(sent) == [
        (SYN, 0, 0, 0),
        (SYN | ACK, 0, 1, 0),
        (ACK, 1, 1, 0),
        (ACK, 1, 1, 3),
        (ACK, 1, 4, 4),
        (FIN | ACK, 4, 5, 0),
        (RST | ACK, 5, 5, 0),
    ]


def test_packets_of_large_data_are_split() -> None:
    packets = TcpPackets(CLIENT, BROKER)
    packets.skip_handshake()
    sent = list(packets.data(False, bytes(2 * MAX_SEGMENT_BYTES + 1)))
    assert [size for *_, size in flags_and_numbers(sent)] == [MAX_SEGMENT_BYTES, MAX_SEGMENT_BYTES, 1]
    assert max(map(len, sent)) == 65535


def test_missing_bytes_leave_a_gap() -> None:
    packets = TcpPackets(CLIENT, BROKER)
    packets.skip_handshake()
    packets.skip_bytes(True, (1 << 32) - 3)
    (packet,) = packets.data(True, b"abcd")
    assert flags_and_numbers([packet])[0][1] == (1 << 32) - 2
    (packet,) = packets.data(True, b"e")
    assert flags_and_numbers([packet])[0][1] == 2


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", b"\x7f\0\0\1"),
        ("::1", b"\x7f\0\0\1"),
        ("::ffff:10.0.0.7", b"\x0a\0\0\7"),
        ("fe80::1%eth0", b"\xfe\x80" + bytes(13) + b"\1"),
    ],
)
def test_packed_address_prefers_ipv4(host: str, expected: bytes) -> None:
    assert ip_bytes(host) == expected


def test_canonical_address_contains_the_node_id() -> None:
    assert [canonical(node).ip for node in (1, 255, 256)] == [b"\x7f\0\0\1", b"\x7f\0\0\xff", b"\x7f\0\1\0"]
    assert canonical(7).port == 9092


def test_packets_between_ipv6_and_ipv4_are_ipv6() -> None:
    client = Address(ip_bytes("fe80::1"), 40_000)
    (packet,) = TcpPackets(client, BROKER).data(True, b"abc")
    segment = segment_of(RAW, memoryview(packet))
    assert segment is not None
    assert segment.source == client
    assert segment.destination == Address(bytes(10) + b"\xff\xff" + BROKER.ip, 9092)
    assert segment.payload == b"abc"
