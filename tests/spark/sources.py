"""The two sources, and the options that both are given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.spark.producing import Broker

OFFICIAL, OURS = "kafka", "odradek"
"""What `format` takes."""

# The defaults are for slow networks: who waits in a test waits in vain.
IMPATIENT = {
    "kafka.max.block.ms": 2000,
    "kafka.fetch.max.wait.ms": 10,
    "kafkaConsumer.pollTimeoutMs": 2000,
    "fetchOffset.retryIntervalMs": 10,
}


def given(broker: Broker, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with the address of the broker."""
    return {"kafka.bootstrap.servers": broker.bootstrap_servers} | IMPATIENT | dict(options)
