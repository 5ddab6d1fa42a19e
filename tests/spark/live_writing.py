"""Writes to a broker while something else reads its files."""

from __future__ import annotations

import threading
from itertools import count

from confluent_kafka import Producer

BURST = 25
TIMEOUT_S = 20


def write_values(servers: str, acknowledged: list[int], stop: threading.Event) -> None:
    """Produces numbered values to the partition of `t`, from 1 on, and counts in `acknowledged` how many are in the log."""
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 0})
    for first in count(1, BURST):
        if stop.is_set():
            return
        for number in range(first, first + BURST):
            producer.produce("t", numbered_value(number))
        assert producer.flush(TIMEOUT_S) == 0
        acknowledged[0] = first + BURST


def numbered_value(number: int) -> bytes:
    """Returns the value of the record at an offset; values have different sizes."""
    return b"%d %s" % (number, b"." * (number * 37 % 1500))
