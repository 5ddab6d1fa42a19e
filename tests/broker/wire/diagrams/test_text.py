"""Diagrams as text."""

from __future__ import annotations

from odradek.broker.wire.diagrams.formats import FORMATS
from odradek.broker.wire.diagrams.layout import diagram_of
from odradek.broker.wire.diagrams.text import as_text
from odradek.broker.wire.exchange import Entry
from tests.broker.wire.diagrams.scenes import heartbeat, hostile_story, produced, story


def test_text_shows_arrows_and_notes_over_lifelines() -> None:
    assert as_text(diagram_of(story()), times=False) == STORY


def test_text_has_milliseconds_since_the_first_step() -> None:
    lines = FORMATS["text"](story()).splitlines()
    assert lines[0].split() == ["reader", "writer", "node", "1", "node", "2"]
    assert [line.split("ms")[0].strip() for line in lines[3:6]] == ["+0", "+10", "+11"]


def test_text_shows_repetitions_with_a_sign() -> None:
    beats: list[Entry] = [heartbeat(number, number) for number in range(5)]
    assert "[… the same 4 more times]" in FORMATS["text"](beats)


def test_text_of_hostile_names_is_printable() -> None:
    text = FORMATS["text"](hostile_story())
    assert all(line.isprintable() for line in text.split("\n"))
    assert max(map(len, text.split("\n"))) < 600


def test_text_without_exchanges_says_so() -> None:
    assert FORMATS["text"]([]) == "no exchanges\n"


def test_wide_names_get_room() -> None:
    text = as_text(diagram_of([produced(1, 0, client_id="w" * 40), produced(2, 1, connection=5, client_id="v" * 40)]), times=False)
    assert text.splitlines()[0].split() == ["w" * 40, "v" * 40, "node", "1"]


STORY = """\
reader           writer                             node 1      node 2
            librdkafka 2.16.1
   │                │                                  │           │
   │───────────────────── Fetch v11 orders-1 ─────────────────────▶│
   │                │─ Produce v11 orders-0 acks=all ─▶│           │
   │                │◀╌╌╌╌╌╌ orders-0 at offset 2 ╌╌╌╌╌│           │
   │                │─ Produce v11 orders-0 acks=all ─▶│           │
   │                │                   [! fault 3: error for Produce]
   │                │◀╌╌╌╌ ✗ NOT_LEADER_OR_FOLLOWER ╌╌╌│           │
   │                │                               [leader: node 2 leads orders-0]
   │                │                           [waited 500 ms for records of orders-1]
   │◀╌╌╌╌╌╌╌╌╌╌╌╌╌ orders-1: 2 records from offset 0 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌│
   │──────────────────── Heartbeat v4 billing ────────────────────▶│
   │◀╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ ✗ REBALANCE_IN_PROGRESS ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌│
   │                │─ Produce v11 orders-0 acks=all ─▶│           │
   │        [✗ FIN by the broker: message.max.bytes is 1048588]    │
   │                │─ Produce v11 orders-0 acks=all ─▶│           │
   │                │                         [not answered yet]   │
   │                │   [control: node stop 1]         │           │
"""
