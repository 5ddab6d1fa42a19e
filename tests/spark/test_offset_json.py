"""Offsets in the JSON form of checkpoints."""

from __future__ import annotations

from odradek.protocol.client.connection import TopicPartition
from odradek.spark_sink.offset_options import from_json, to_json


def test_offset_json_round_trip_in_order() -> None:
    offsets = {TopicPartition("b", 10): 5, TopicPartition("b", 9): 4, TopicPartition("a", 0): 3}
    assert list(to_json(offsets).items()) == [("a", {"0": 3}), ("b", {"9": 4, "10": 5})]
    assert from_json(to_json(offsets)) == offsets
