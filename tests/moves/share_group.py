"""A share group of librdkafka's share consumers that leaves records of every state behind on each broker."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import AcknowledgeType, Message, Producer, ShareConsumer
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

TOPIC = GROUP = "shared"
PATIENCE_S = 60.0


class ShareGroup:
    """Numbered records, of which some are accepted, some rejected, some released, and some in flight when a broker stops."""

    def __init__(self) -> None:
        self._produced = 0
        self._undecided: dict[int, int] = {}
        """The delivery counts with which numbers that are neither accepted nor rejected have to come next."""
        self._holder: ShareConsumer | None = None

    def work(self, servers: str) -> None:
        """Decides on the records of the broker before and on new ones, and then leaves some in flight and some released."""
        if not self._produced:
            _create(servers)
        self._produce(servers, 20)
        consumer = _consumer(servers)
        self._receive(consumer, lambda number: AcknowledgeType.REJECT if number % 3 == 0 else AcknowledgeType.ACCEPT)
        self._undecided.clear()
        consumer.close()

        self._produce(servers, 10)
        in_flight = set(self._undecided)
        self._holder = _consumer(servers)
        self._receive(self._holder, None)
        self._produce(servers, 10)
        released = set(self._undecided) - in_flight
        consumer = _consumer(servers)
        self._receive(consumer, lambda _: AcknowledgeType.RELEASE, released)
        consumer.close()
        # The delivery of a record in flight is not stored, as in Kafka's persister, and that of a released one is.
        self._undecided |= dict.fromkeys(released, 2)

    def leave(self) -> None:
        """Closes the consumer that holds records in flight."""
        if self._holder is not None:
            self._holder.close()
            self._holder = None

    def _produce(self, servers: str, count: int) -> None:
        producer = Producer({"bootstrap.servers": servers})
        for number in range(self._produced, self._produced + count):
            producer.produce(TOPIC, str(number))
            self._undecided[number] = 1
        assert producer.flush(PATIENCE_S) == 0
        self._produced += count

    def _receive(self, consumer: ShareConsumer, decide: Any, expected: set[int] | None = None) -> None:
        """Receives exactly the expected numbers, all undecided ones without `expected`, and decides on each unless `decide` is None."""
        wanted = {number: count for number, count in self._undecided.items() if expected is None or number in expected}
        received: dict[int, int | None] = {}
        deadline = time.monotonic() + PATIENCE_S
        while len(received) < len(wanted):
            assert time.monotonic() < deadline, f"{wanted.keys() - received.keys()} were not delivered"
            for message in consumer.poll(1.0):
                number, count = _delivered(message)
                assert number in wanted, f"{number} was delivered again"
                assert number not in received, f"{number} was delivered twice"
                received[number] = count
                if decide is not None:
                    consumer.acknowledge(message, decide(number))
            if decide is not None:
                assert not any(consumer.commit_sync(PATIENCE_S).values())
        assert received == wanted


def _create(servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    earliest = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    for altered in admin.incremental_alter_configs([ConfigResource(ResourceType.GROUP, GROUP, incremental_configs=[earliest])]).values():
        altered.result(PATIENCE_S)
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(PATIENCE_S)


def _consumer(servers: str) -> ShareConsumer:
    settings = {"bootstrap.servers": servers, "group.id": GROUP, "share.acknowledgement.mode": "explicit", "log_level": 0}
    consumer = ShareConsumer(settings)
    consumer.subscribe([TOPIC])
    return consumer


def _delivered(message: Message) -> tuple[int, int | None]:
    """Returns the number and the delivery count of a record."""
    assert message.error() is None, message.error()
    return int(message.value() or b""), message.delivery_count()
