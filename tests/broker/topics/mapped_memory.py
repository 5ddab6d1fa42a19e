"""Logs that share limited memory."""

from __future__ import annotations

import weakref

from odradek.protocol.messages.produce import PRODUCE
from odradek.storage.log import Log
from tests.broker.harness import Client, a_batch, produce_request

VALUE = b"v" * 20_000


def mapping(log: Log) -> weakref.ref[object]:
    """Returns a reference to the memory of the newest records of a log."""
    return weakref.ref(log.read(log.end_offset - 1, 1, log.end_offset, at_least_one=True)[0].obj)


def errors_of(client: Client, topic: str, count: int = 1) -> list[int]:
    answers = [client.call(PRODUCE, 9, produce_request(topic, a_batch(VALUE))) for _ in range(count)]
    return [answer.responses[0].partition_responses[0].error_code for answer in answers]
