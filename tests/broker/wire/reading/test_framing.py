from __future__ import annotations

import pytest

from odradek.broker.wire.exchange import HEAD_BYTES, Frame
from odradek.broker.wire.reading import framing
from odradek.broker.wire.reading.framing import ENDLESS, Framing, TimedFrame


def frame(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


def new_framing(*, lost: bool = False) -> Framing:
    made = Framing(lambda head, size: head[:1] == b"!")
    if not lost:
        made.begin()
    return made


def test_frames_have_times_and_comments() -> None:
    made = new_framing()
    data = frame(b"one") + frame(b"two")
    assert made.add(data[:5], 1, ("first",)) == []
    assert made.held_bytes == 5
    assert made.add(data[5:9], 2, ("second",)) == [TimedFrame(Frame(b"one", 3), 1, 2, ("first", "second"))]
    assert made.add(data[9:], 3, ()) == [TimedFrame(Frame(b"two", 3), 2, 3, ())]


def test_comments_belong_to_the_last_frame() -> None:
    found = new_framing().add(frame(b"one") + frame(b"") + frame(b"thr")[:5], 1, ("note",))
    assert found == [TimedFrame(Frame(b"one", 3), 1, 1, ()), TimedFrame(Frame(b"", 0), 1, 1, ("note",))]


def test_lost_framing_waits_for_a_plausible_frame() -> None:
    made = new_framing(lost=True)
    assert made.add(b"garbage in the middle", 1, ()) == []
    assert made.add(b"!", 1, ()) == []
    assert [each.frame.head for each in made.add(frame(b"!yes"), 2, ())] == [b"!yes"]
    made.add(frame(b"half of it")[:7], 3, ())
    made.lose()
    assert made.incomplete is None
    assert made.add(frame(b"more"), 4, ()) == []


def test_incomplete_frame_is_known() -> None:
    made = new_framing()
    assert made.incomplete is None
    made.add(frame(b"content")[:8], 1, ())
    assert made.incomplete == Frame(b"cont", 7)
    made = new_framing()
    made.add(b"\xff\xff\xff\xf0abc", 1, ())
    assert made.incomplete == Frame(b"abc", ENDLESS)


def test_very_large_frame_is_kept_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "MAX_KEPT_BYTES", 10_000)
    made = new_framing()
    content = bytes(20_000)
    found = [each for start in range(0, 20_004, 700) for each in made.add(frame(content)[start : start + 700], start, ())]
    assert [each.frame for each in found] == [Frame(content[:HEAD_BYTES], 20_000)]
