"""The forms of records for people and for programs. test_consume.py prints stored records in them."""

from __future__ import annotations

import pytest

from odradek.broker.commands.record_formats import as_json, as_text, for_terminal
from odradek.protocol.batches.records import Record
from odradek.protocol.client.connection import TopicPartition

PLACE = TopicPartition("orders", 1)
RECORD = Record(5, 1000, b"\x1b[31mkey\n", "größe".encode(), [("a", b"\xff")])


def test_text_contains_the_bytes_of_a_record() -> None:
    assert as_text(r"%k=%v;%h\n")(PLACE, RECORD) == b"\x1b[31mkey\n=" + "größe".encode() + b";a=\xff\n"


def test_terminal_gets_no_control_characters_of_records() -> None:
    assert for_terminal(r"%k %v %h\n", colours=False)(PLACE, RECORD).decode() == "\\x1b[31mkey\\n größe a=\\xff\n"


def test_terminal_shows_fields_in_colours() -> None:
    assert for_terminal("%p %k: %v", colours=True)(PLACE, RECORD._replace(key=b"k")).decode() == "\x1b[2m1\x1b[0m \x1b[36mk\x1b[0m: größe"


def test_json_of_a_record_without_headers_has_no_headers() -> None:
    expected = b'{"topic": "orders", "partition": 1, "offset": 5, "timestamp": 1000, "key": null, "value": "v"}\n'
    assert as_json(PLACE, Record(5, 1000, None, b"v", [])) == expected


@pytest.mark.parametrize("text", ["%", "%z", "a%", "\\", "\\x"])
def test_unknown_placeholder_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"invalid format .*: use %t, %p"):
        as_text(text)
