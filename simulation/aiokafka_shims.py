"""The places where aiokafka takes the time from C, keeps a counter for the whole process, or depends on addresses of objects.

Its compiled builder of batches reads the clock itself, and the one in Python has it as a default argument. Client ids come from a counter
of the class. `ClusterMetadata.brokers` returns a set of tuples that contain None, whose hash is an address before Python 3.12.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def adapted_aiokafka() -> Iterator[None]:
    """Makes aiokafka depend on the seed alone, until the end of the block. Does nothing if it is not imported."""
    if "aiokafka" not in sys.modules:
        yield
        return
    from aiokafka.cluster import ClusterMetadata
    from aiokafka.producer.message_accumulator import BatchBuilder
    from aiokafka.producer.producer import AIOKafkaProducer

    append, brokers, clients = BatchBuilder.append, ClusterMetadata.brokers, AIOKafkaProducer._PRODUCER_CLIENT_ID_SEQUENCE  # noqa: SLF001

    def append_now(self: Any, *, timestamp: int | None, **record: Any) -> Any:
        return append(self, timestamp=int(time.time() * 1000) if timestamp is None else timestamp, **record)

    def sorted_brokers(self: Any) -> Any:
        return dict.fromkeys(sorted(brokers(self), key=lambda broker: broker.nodeId)).keys()

    BatchBuilder.append, ClusterMetadata.brokers = append_now, sorted_brokers
    AIOKafkaProducer._PRODUCER_CLIENT_ID_SEQUENCE = 0  # noqa: SLF001
    try:
        yield
    finally:
        BatchBuilder.append, ClusterMetadata.brokers = append, brokers
        AIOKafkaProducer._PRODUCER_CLIENT_ID_SEQUENCE = clients  # noqa: SLF001
