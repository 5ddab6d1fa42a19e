"""Stories as text."""

from __future__ import annotations

import pytest

from odradek.broker.wire.exchange import Entry, Event
from odradek.broker.wire.story import text
from odradek.broker.wire.story.text import COLUMNS, as_story
from tests.broker.wire.diagrams.scenes import START_MS, at, fetched, heartbeat, hostile_story, produced


def test_story_without_entries_says_so() -> None:
    assert as_story([]) == "nothing has happened\n"


def test_story_has_times_clients_and_folds() -> None:
    entries: list[Entry] = [
        *(produced(number, 10 * number) for number in range(1, 6)),
        *(heartbeat(number, 10 * number) for number in range(6, 10)),
        fetched(10, 100),
        Event(sequence=11, at=at(20_000), kind="clock", text="the time moves forward by 60000 ms"),
        produced(12, 20_010, error=6, faults=("fault 1: api=Produce",)),
    ]
    assert as_story(entries, START_MS) == (
        "clients: writer is librdkafka 2.16.1\n"
        " +10 ms  writer -> node 1  5 x Produce v11 orders-0 acks=all: orders-0 at offset 1 ... orders-0 at offset 5 (until +50\n"
        "           ms)\n"
        " +60 ms  reader -> node 2  4 x Heartbeat billing, Fetch without records (until +100 ms)\n"
        "+20.0 s  clock: the time moves forward by 60000 ms\n"
        "+20.0 s  writer -> node 1  Produce v11 orders-0 acks=all: ✗ NOT_LEADER_OR_FOLLOWER; [fault 1: api=Produce]\n"
    )


def test_times_begin_with_the_first_entry_otherwise() -> None:
    assert "+0 ms  writer -> node 1" in as_story([produced(1, 500)])


def test_background_is_left_out_before_the_middle_of_the_story(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MAX_LINES", 5)
    monkeypatch.setattr(text, "FIRST_LINES", 2)
    different: list[Entry] = [produced(number, number, topic=f"t{number}") for number in range(5)]
    lines = as_story([heartbeat(9, 9), *different]).splitlines()
    assert len(lines) == 1 + 5 and not any("Heartbeat" in line for line in lines)
    lines = as_story([*different, *(produced(number, number, topic=f"t{number}") for number in range(5, 8))]).splitlines()
    assert lines[3] == "... 3 lines are left out"
    assert "t0-0" in lines[1] and "t1-0" in lines[2] and "t5-0" in lines[4] and "t7-0" in lines[6]


def test_oldest_entries_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MAX_ENTRIES", 2)
    assert "... 3 earlier entries are left out\n" in as_story([produced(number, number) for number in range(5)])


def test_lines_are_printable_and_narrow() -> None:
    for line in as_story(hostile_story()).splitlines():
        assert line.isprintable() and len(line) <= COLUMNS
