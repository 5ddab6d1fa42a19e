"""Tests of the generator of damaged batches, and a short run against Apache Kafka."""

from __future__ import annotations

from collections import Counter

import pytest

from odradek.protocol.batches.batch_validation import only_batch, validate_batch
from odradek.protocol.batches.compression import Compression, InvalidCompression, decompress
from odradek.protocol.batches.records import HEADER, BatchError, InvalidRecords, read_header, read_records
from tests import apache_kafka

from .damage_run import main
from .damaged_batches import batches

COUNT = 600


def kind_of(batch: bytes) -> str:
    """Returns the check that refuses a batch, or "whole"."""
    try:
        header = validate_batch(only_batch(memoryview(batch)), 1 << 30)
    except BatchError:
        return "batch"
    try:
        payload = decompress(Compression(header.compression), batch[HEADER.size :], 1 << 20)
    except (InvalidCompression, ValueError):
        return "compression"
    try:
        list(read_records(payload, header))
    except InvalidRecords:
        return "records"
    return "whole"


def test_batches_of_the_same_seed_are_equal() -> None:
    assert list(batches(1, 50)) == list(batches(1, 50)) == list(batches(1, 60))[:50] != list(batches(2, 50))


def test_batches_are_damaged_at_every_depth() -> None:
    found = Counter(kind_of(sent.batch) for sent in batches(1, COUNT))
    assert found.keys() == {"batch", "compression", "records", "whole"}
    assert min(found.values()) > COUNT / 20
    codecs = Counter(read_header(sent.batch).attributes & 7 for sent in batches(1, COUNT) if kind_of(sent.batch) == "whole")
    assert codecs.keys() >= set(Compression)


@pytest.mark.apache_kafka
def test_damage_run_against_apache_kafka_finds_no_difference() -> None:
    if lacking := apache_kafka.missing():
        pytest.skip(lacking)
    assert main(500, seed=7) == 0
