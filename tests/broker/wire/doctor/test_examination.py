"""Checks on entries that no client of the tests produces: captures without reasons, damaged frames, hostile names, and an empty record."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.wire.doctor.examination import examine
from odradek.broker.wire.doctor.finding import MAX_SHOWN, as_text, densest, describe
from odradek.broker.wire.exchange import Entry, Event, Exchange, Frame
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import a_batch, produce_request
from tests.broker.wire.diagrams.scenes import HOSTILE, at, fetched, heartbeat, hostile_story, produced, story
from tests.broker.wire.made_exchanges import exchange


def names(entries: list[Entry]) -> list[str]:
    return [finding.name for finding in examine(entries)]


def closed(sequence: int, milliseconds: float, text: str, **values: int) -> Event:
    """Returns the end of a connection as a capture shows it: without a reason."""
    fields = {"peer": "127.0.0.1:50000", "by": "broker", "how": "FIN"}
    found: dict[str, int] = {"connection": 1, "node": 1} | values
    return Event(sequence=sequence, at=at(milliseconds), kind="connection closed", text=text, fields=fields, **found)


def opened(sequence: int, milliseconds: float, connection: int) -> Event:
    text = "127.0.0.1:50000 connects to PLAINTEXT"
    return Event(sequence=sequence, at=at(milliseconds), kind="connection opened", node=1, connection=connection, text=text)


def unacknowledged(sequence: int, milliseconds: float) -> Exchange:
    request = produce_request("orders", a_batch(b"a", b"b"), acks=0)
    return exchange(PRODUCE, 9, request, sequence=sequence, client_id="writer", received=at(milliseconds), answered=at(milliseconds))


def test_empty_record_has_no_findings() -> None:
    assert examine([]) == []
    assert as_text([]) == "no mistakes found\n"


def test_loss_is_found_without_the_reason() -> None:
    (found,) = examine([unacknowledged(1, 0), unacknowledged(2, 10), closed(3, 11, "FIN by the broker")])
    assert found.name == "losses with acks=0"
    assert "2 records are lost" in found.problem
    assert [entry.sequence for entry in found.entries] == [2]


def test_unacknowledged_requests_without_a_close_are_no_loss() -> None:
    assert examine([unacknowledged(1, 0), unacknowledged(2, 10)]) == []


def test_idle_close_is_found_without_the_reason() -> None:
    assert names([opened(1, 0, 1), produced(2, 1), closed(3, 600_001, "FIN by the broker")]) == ["idle connections"]
    assert names([opened(1, 0, 1), produced(2, 1), closed(3, 60_000, "FIN by the broker")]) == []


def test_half_open_connection_is_found_without_the_reason() -> None:
    first, second = heartbeat(2, 1, connection=1, node=1), heartbeat(4, 30_001, connection=2, node=1)
    entries: list[Entry] = [opened(1, 0, 1), first, opened(3, 30_000, 2), second, closed(5, 600_001, "FIN by the broker")]
    assert names(entries) == ["half-open connections"]


def test_failed_and_repeated_append_is_a_duplicate() -> None:
    entries: list[Entry] = [produced(1, 0, error=7), produced(2, 100)]
    (found,) = examine(entries)
    assert found.name == "duplicates for lack of idempotence"
    assert examine([produced(1, 0, error=6), produced(2, 100)]) == []


def test_equal_batches_that_were_acknowledged_are_no_duplicates() -> None:
    assert examine([produced(1, 0), produced(2, 10), produced(3, 20, connection=2)]) == []


def test_finding_shows_the_first_and_the_last_entries() -> None:
    refused: list[Entry] = [produced(number, number, error=10) for number in range(100)]
    (found,) = [each for each in examine(refused) if each.name == "oversize batches"]
    assert [entry.sequence for entry in found.entries] == [0, 1, 2, 3, 96, 97, 98, 99]
    assert len(found.entries) == MAX_SHOWN


def test_densest_run_is_the_longest_within_the_time() -> None:
    assert densest([0, 5, 6, 7, 20, 21], float, 2) == [5, 6, 7]
    assert densest([], float, 2) == ()


def test_hostile_names_are_escaped_in_reports() -> None:
    entries: list[Entry] = [produced(number, number, error=10, client_id=HOSTILE, topic=HOSTILE) for number in range(3)]
    text = as_text([describe(finding) for finding in examine(entries)])
    assert "oversize batches" in text
    assert all(line.isprintable() for line in text.splitlines())
    examine(hostile_story())


def test_report_has_problem_advice_settings_and_lines() -> None:
    text = as_text([describe(finding) for finding in examine([produced(1, 0, error=10), heartbeat(2, 1)])])
    assert text.startswith(
        "1. oversize batches: writer (librdkafka 2.16.1) at 127.0.0.1\n   problem:  1 Produce request to orders was refused"
    )
    assert "   settings: message.max.bytes, max.message.bytes" in text
    assert "Produce v11" in text.splitlines()[-1]


@given(st.data())
def test_damaged_frames_are_examined(data: st.DataObject) -> None:
    """Frames of captures may be cut off or contain anything."""
    entries: list[Entry] = []
    for number, entry in enumerate([*story(), fetched(20, 0, b"a"), unacknowledged(21, 0)]):
        if isinstance(entry, Exchange):
            head = data.draw(st.binary(max_size=40)).join([entry.request_frame.head[:12], entry.request_frame.head[20:]])
            response = data.draw(st.none() | st.binary(max_size=60))
            frame = None if response is None else Frame(response, data.draw(st.integers(len(response), 1 << 31)))
            entry = replace(entry, sequence=number, request_frame=Frame(head, len(head)), response_frame=frame)
        entries.append(entry)
    for finding in examine(entries):
        describe(finding)


@pytest.mark.parametrize("api_key", [1, 3, 8, 11, 13, 14, 68])
def test_unreadable_requests_of_every_checked_api_are_skipped(api_key: int) -> None:
    head = api_key.to_bytes(2, "big") + bytes(6) + b"\0\1a" + bytes(3)
    broken = replace(produced(1, 0), request_frame=Frame(head, len(head)), response_frame=Frame(bytes(9), 9))
    assert examine([broken] * 3) == []
