"""Batch reads by Spark's own connector and by ours, in one session: the same rows, tasks and words."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.spark import queries
from tests.spark.elsewhere import Elsewhere
from tests.spark.producing import Broker, bodies, delete_before, new_topic, produce

pytestmark = [pytest.mark.spark, pytest.mark.official]
OFFICIAL, OURS = "kafka", "odradek"
"""What `format` takes."""

# Long waits are for slow networks.
QUICK = {
    "kafka.default.api.timeout.ms": 4000,
    "kafka.request.timeout.ms": 4000,
    "kafka.fetch.max.wait.ms": 10,
    "kafkaConsumer.pollTimeoutMs": 500,
    "fetchOffset.retryIntervalMs": 10,
    "kafka.max.block.ms": 1000,
}


def read(session: Elsewhere, broker: Broker, **options: Any) -> tuple[queries.Read | queries.Failure, queries.Read | queries.Failure]:
    """What the official connector finds, and what ours does."""
    given = QUICK | {"kafka.bootstrap.servers": broker.bootstrap_servers} | {k.replace("__", "."): v for k, v in options.items()}
    return session.run(queries.read, OFFICIAL, given), session.run(queries.read, OURS, given)


def test_content(both: Elsewhere, broker: Broker) -> None:
    topic = new_topic(broker, 3)
    written = produce(broker, topic, bodies(200), 0) + produce(broker, topic, bodies(100), 2, **{"batch.num.messages": 9})
    theirs, ours = read(both, broker, subscribe=topic, includeHeaders=True)
    assert isinstance(theirs, queries.Read) and isinstance(ours, queries.Read)
    assert theirs.rows == ours.rows == written
    assert theirs.schema == ours.schema
