"""The contents of responses in a few words: offsets and numbers of records, also if the record keeps only the beginning of a frame."""

from __future__ import annotations

from dataclasses import replace

from odradek.broker.wire.exchange import Frame
from odradek.broker.wire.labels import contents_label, response_label
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import a_batch, produce_request
from tests.broker.wire.diagrams.scenes import fetched, heartbeat, produced
from tests.broker.wire.made_exchanges import exchange


def several(count: int) -> bytes:
    return a_batch(*[b"x" * 100] * count)


def test_produce_names_the_offset_and_several_records() -> None:
    one = produced(5, 0)
    assert contents_label(one) == "orders-0 at offset 5"
    many = exchange(PRODUCE, 11, produce_request("orders", several(30)), one.response)
    assert contents_label(many) == "orders-0 at offset 5 (30 records)"
    head = replace(many, request_frame=Frame(many.request_frame.head[:200], many.request_frame.size))
    assert contents_label(head) == "orders-0 at offset 5 (30 records)"


def test_produce_of_a_message_set_names_only_the_offset() -> None:
    old = bytes(16) + b"\x01" + bytes(60)
    found = exchange(PRODUCE, 11, produce_request("orders", old), produced(5, 0).response)
    assert contents_label(found) == "orders-0 at offset 5"


def test_fetch_names_the_first_offset_and_the_records() -> None:
    assert contents_label(fetched(1, 0)) == "orders-1: no records"
    assert contents_label(fetched(1, 0, b"x")) == "orders-1: 1 record from offset 0"
    long = fetched(1, 0, *[b"x" * 100] * 60)
    assert long.response_frame is not None
    head = replace(long, response_frame=Frame(long.response_frame.head[:200], long.response_frame.size))
    assert contents_label(head) == "orders-1: at least 60 records from offset 0"


def test_errors_and_other_responses_have_no_contents() -> None:
    assert response_label(produced(5, 0, 6)) == "NOT_LEADER_OR_FOLLOWER"
    assert (contents_label(heartbeat(1, 0)), response_label(heartbeat(1, 0))) == ("", "ok")
    assert contents_label(produced(5, 0, answers=False)) == ""
