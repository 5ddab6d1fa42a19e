from __future__ import annotations

import re

from odradek.broker.wire.exchange import Event, Frame, Moment, client_id_of
from odradek.broker.wire.lines import Lines, printable
from tests.broker.wire.made_entries import AN_EVENT, a_heartbeat, a_produce
from tests.broker.wire.made_exchanges import an_exchange

TIMES = {"received": Moment(0, 1_700_000_000_250), "answered": Moment(0, 1_700_000_000_262.5)}
TIME = r"\d\d:\d\d:\d\d\.250"


def test_line_of_an_exchange_says_what_happened() -> None:
    line = Lines().of(a_produce(6, **TIMES))
    assert re.fullmatch(TIME + r" node 1 #1 app          Produce v9 \(7\) orders \d+ B -> \d+ B, 12\.5 ms, NOT_LEADER_OR_FOLLOWER", line), (
        line
    )


def test_line_of_an_exchange_names_waits_and_faults() -> None:
    known = {"waits": ("a rebalance of billing",), "faults": ("fault 3: delay_ms=200",), "ended": "FIN by the client", "answered": None}
    line = Lines().of(a_heartbeat(**{**TIMES, **known}))
    assert line.endswith(", waited for a rebalance of billing, fault 3: delay_ms=200, FIN by the client")
    assert "not answered" not in line
    assert "not answered yet" in Lines().of(a_heartbeat(answered=None))


def test_line_of_an_event_names_kind_and_node() -> None:
    line = Lines().of(AN_EVENT)
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.002 node 2 leader: node 2 leads orders-0", line), line
    opened = Event(sequence=1, at=Moment(0, 0), kind="connection opened", node=1, connection=7, text="hello")
    assert Lines().of(opened).endswith(" node 1 #7 connection opened: hello")


def test_verbose_lines_contain_the_fields() -> None:
    lines = Lines(verbose=True).of(a_produce(6)).split("\n")
    assert lines[1:3] == ["  request", "    transactional_id: null"]
    assert "        index: 0" in lines
    assert any(re.fullmatch(r" +records: \d+ bytes", line) for line in lines)
    assert "        error_code: 6" in lines
    request = Frame(b"\0\0\0\x09\0\0\0\7\0\3app", 5000)
    cut = Lines(verbose=True).of(an_exchange(request, client_id=client_id_of(request)))
    assert cut.split("\n")[1] == "  request: not decoded; 13 of 5000 bytes are known"


def test_colours_are_used_only_if_asked_for() -> None:
    assert "\x1b[" not in Lines(verbose=True).of(a_produce(6))
    assert "\x1b[31mNOT_LEADER_OR_FOLLOWER\x1b[0m" in Lines(colours=True).of(a_produce(6))


def test_hostile_names_do_not_act_on_the_terminal() -> None:
    hostile = "\x1b[2J\x07evil\n\u202e" + "x" * 100_000
    for lines in (Lines(), Lines(colours=True, verbose=True)):
        text = lines.of(a_produce(client_id=hostile, waits=(hostile,), faults=(hostile,), ended=hostile))
        assert "\x1b[2J" not in text
        assert not {"\x07", "\u202e"} & set(text)
        assert len(text) < 10_000


def test_shown_text_has_a_limited_length() -> None:
    assert printable("a" * 100, 10) == "aaaaaaaaa…"
    assert printable("tab\there") == "tab\\there"


def test_impossible_time_of_a_damaged_file_is_shown() -> None:
    assert Lines().of(a_produce(received=Moment(0, 1e30))).startswith("--:--:--.---")


def test_missed_entries_are_one_line() -> None:
    assert Lines().omission(5) == "... 5 entries are missing, because the record keeps only the latest ones"
