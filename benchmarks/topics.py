"""Topics for the measures."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka.admin import AdminClient

from .brokers import FLOOR, MOCK, Broker
from .librdkafka import KafkaFailure

TIMEOUT_S = 10
_numbers = itertools.count()


def new_name() -> str:
    """Returns a name that no other topic has."""
    return f"bench-{os.getpid()}-{next(_numbers)}"


@contextmanager
def new_topic(broker: Broker) -> Iterator[str]:
    """Yields the name of a topic of one partition, which the broker creates when its metadata is first requested."""
    name = new_name()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    deadline = time.monotonic() + TIMEOUT_S
    while admin.list_topics(name, timeout=TIMEOUT_S).topics[name].error:
        if time.monotonic() > deadline:
            raise KafkaFailure("the topic was not created")
        time.sleep(0.05)
    try:
        yield name
    finally:
        if broker.name not in (FLOOR, MOCK):  # these do not support DeleteTopics; the mock keeps only 5 MB
            admin.delete_topics([name])[name].result(TIMEOUT_S)
