from __future__ import annotations

from io import BytesIO

from odradek.broker.wire.pcapng import COMMENT_BYTES, INBOUND, LINKTYPE_RAW, interface, packet, section_header
from odradek.broker.wire.reading.file_format import CaptureFile, Packet


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
