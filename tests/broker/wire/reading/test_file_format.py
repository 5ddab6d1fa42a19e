from __future__ import annotations

from io import BytesIO
from random import Random
from struct import Struct

import pytest

from odradek.broker.wire.packets import INBOUND, interface, packet, section_header
from odradek.broker.wire.reading.file_format import CaptureFile, NotACapture, Packet

TIME_NS = 1_700_000_000_123_456_000
CAPTURE = (
    section_header("tests") + interface("lo", "") + packet(0, TIME_NS, b"first", INBOUND) + packet(0, TIME_NS, b"second", INBOUND, "two")
)


def read(data: bytes) -> tuple[list[Packet], str | None]:
    file = CaptureFile(BytesIO(data))
    return list(file.packets()), file.problem


def pcap(order: str, magic: int, fraction: int, link_type: int = 1) -> bytes:
    header = Struct(order + "IHHiIII").pack(magic, 2, 4, 0, 0, 65535, link_type)
    return header + Struct(order + "IIII").pack(TIME_NS // 10**9, fraction, 5, 9) + b"first"


def block(order: str, kind: int, body: bytes) -> bytes:
    size = len(body) + 12
    return Struct(order + "II").pack(kind, size) + body + Struct(order + "I").pack(size)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("magic", "fraction"), [(0xA1B2C3D4, 123_456), (0xA1B23C4D, 123_456_000)])
def test_pcap_in_each_order_and_unit_is_read(order: str, magic: int, fraction: int) -> None:
    expected = Packet(TIME_NS, 1, memoryview(b"first"), (), "")
    assert read(pcap(order, magic, fraction)) == ([expected], None)
    assert read(pcap(order, magic, fraction, 0x10000000 | 1)) == ([expected], None)  # with a frame check sequence


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcapng_in_each_order_is_read(order: str) -> None:
    head = block(order, 0x0A0D0D0A, Struct(order + "IHHq").pack(0x1A2B3C4D, 1, 0, -1))
    first = block(order, 1, Struct(order + "HHI").pack(1, 0, 0))  # microseconds
    options = Struct(order + "HHB3xHH").pack(9, 1, 0x80 | 10, 0, 0)
    second = block(order, 1, Struct(order + "HHI").pack(113, 0, 0) + options)  # 1024 units in a second
    microseconds = TIME_NS // 1000
    new = block(order, 6, Struct(order + "IIIII").pack(0, microseconds >> 32, microseconds & 0xFFFFFFFF, 4, 4) + b"new ")
    old = block(order, 2, Struct(order + "HHIIII").pack(1, 0, 0, 2048, 4, 4) + b"old ")
    simple = block(order, 3, Struct(order + "I").pack(4) + b"mini")
    unknown = block(order, 77, b"????")
    packets, problem = read(head + first + second + new + unknown + old + simple)
    assert problem is None
    assert [(each.time_ns, each.link_type, bytes(each.data)) for each in packets] == [
        (TIME_NS, 1, b"new "),
        (2_000_000_000, 113, b"old "),
        (0, 1, b"mini"),
    ]


def test_pcapng_with_several_sections_is_read() -> None:
    packets, problem = read(CAPTURE + CAPTURE)
    assert [bytes(each.data) for each in packets] == [b"first", b"second"] * 2
    assert problem is None


@pytest.mark.parametrize("data", [b"", b"abc", b"GET / HTTP/1.1\r\n\r\n", bytes(100)])
def test_file_of_another_kind_is_no_capture(data: bytes) -> None:
    with pytest.raises(NotACapture):
        CaptureFile(BytesIO(data))


@pytest.mark.parametrize("capture", [CAPTURE, pcap("<", 0xA1B2C3D4, 1), pcap(">", 0xA1B23C4D, 1)])
def test_truncated_capture_is_read_to_its_end(capture: bytes) -> None:
    whole, _ = read(capture)
    truncated = 0
    for end in range(4, len(capture)):
        packets, problem = read(capture[:end])
        assert packets == whole[: len(packets)]
        assert problem is None or problem.startswith("the capture is truncated at byte")
        truncated += problem is not None
    assert truncated >= len(capture) - 8  # the other ends are between two blocks


def test_damaged_capture_is_read_to_the_damage() -> None:
    for damage, text in ((b"\0\0\0\0\x0b\0\0\0", "a block of 11 bytes"), (b"\6\0\0\0\xfc\xff\xff\xff", "a block of 4294967292 bytes")):
        packets, problem = read(CAPTURE + damage)
        assert len(packets) == 2
        assert problem is not None and text in problem


def test_hostile_captures_raise_nothing() -> None:
    random = Random(7)
    for original in (CAPTURE, pcap("<", 0xA1B2C3D4, 1)):
        for _ in range(2000):
            data = bytearray(original)
            for _ in range(random.randrange(1, 5)):
                data[random.randrange(4, len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFF, random.randrange(256)))
            packets, _ = read(bytes(data))
            assert sum(len(each.data) for each in packets) <= len(data)
