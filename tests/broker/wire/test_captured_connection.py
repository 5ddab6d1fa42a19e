from __future__ import annotations

from io import BytesIO

from odradek.broker.wire.captured_connection import CapturedConnection, Section
from odradek.broker.wire.packets import FIN, RST, Address, canonical
from odradek.broker.wire.reading.file_format import CaptureFile, Packet
from odradek.broker.wire.reading.segments import TcpSegment, segment_of
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest

CLIENT = Address(b"\x7f\0\0\1", 40_000)
BEAT = b"".join(encode_request(HEARTBEAT, 4, 1, "c", HeartbeatRequest(group_id="g", generation_id=1, member_id="m")))


def connection(section: Section) -> CapturedConnection:
    return CapturedConnection(section, 1, CLIENT, canonical(1))


def written(section: Section) -> list[tuple[TcpSegment, Packet]]:
    """Returns the packets that were added since the last call."""
    blocks, section.blocks = section.blocks, []
    packets = CaptureFile(BytesIO(b"".join(blocks))).packets()
    return [(segment, packet) for packet in packets if (segment := segment_of(packet.link_type, packet.data)) is not None]


def test_captured_data_has_times_and_comments() -> None:
    section = Section("tests")
    captured = connection(section)
    captured.opened(1)
    captured.data(2, True, BEAT, ["fault: first", "waited for: second"])
    *opened, (segment, packet) = written(section)
    assert [each.time_ns for _, each in opened] == [1, 1, 1]
    assert (segment.payload, packet.time_ns, packet.comments) == (BEAT, 2, ("fault: first\nwaited for: second",))


def test_captured_end_by_the_broker_names_the_reason() -> None:
    section = Section("tests")
    captured = connection(section)
    captured.data(1, True, BEAT[:6])
    captured.ended(2, by_client=False, how=(FIN, RST), reason="socket.request.max.bytes is 1", comments=["fault: third"])
    (held, _), (fin, packet), (rst, _) = written(section)
    assert held.payload == BEAT[:4] + b"**"
    assert fin.flags & FIN and rst.flags & RST
    assert packet.comments == ("fault: third\nclosed by the broker: socket.request.max.bytes is 1",)


def test_captured_end_by_the_client_is_answered_with_fin() -> None:
    section = Section("tests")
    captured = connection(section)
    captured.ended(2, by_client=True, how=(FIN,), reason="")
    first, second = (segment for segment, _ in written(section))
    assert first.source == CLIENT and second.destination == CLIENT
    captured = connection(section)
    captured.ended(2, by_client=True, how=(RST,), reason="")
    section.restart()
    assert section.number == 2


def test_gap_is_counted_and_commented() -> None:
    section = Section("tests")
    captured = connection(section)
    captured.joined()
    captured.data(1, True, BEAT + BEAT[:20])
    captured.missing(2, received=100, sent=50)
    captured.data(3, True, BEAT)
    (before, _), (after, packet) = written(section)
    assert after.sequence == before.sequence + before.size + 100
    assert packet.comments == ("gap: 100 bytes to the broker and 50 bytes from it are missing; the capture was too slow",)


def test_next_file_begins_with_a_frame() -> None:
    section = Section("tests")
    captured = connection(section)
    captured.joined()
    captured.data(1, True, BEAT + BEAT[:20])
    written(section)
    section.restart()
    captured.data(2, True, BEAT[20:] + BEAT)
    ((segment, _),) = written(section)
    assert segment.payload == BEAT
    assert segment.sequence == 1 + 2 * len(BEAT)
