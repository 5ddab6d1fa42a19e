"""The text of Kafka's UUIDs."""

from __future__ import annotations

from odradek.broker.kafka_quirks.java_uuid import uuid_text


def test_text_has_no_padding_and_is_safe_in_urls() -> None:
    assert uuid_text(bytes(16)) == "A" * 22
    assert uuid_text(b"\xfb\xff" * 8) == "-__7__v_-__7__v_-__7_w"
