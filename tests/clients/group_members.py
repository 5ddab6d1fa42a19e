"""A child process with members of one group, each in a separate thread; see member_processes.py. The argument is the library."""

from __future__ import annotations

import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

import confluent_kafka
import kafka

from tests.clients.child import serve

POLL_S = 0.05
KAFKA_PYTHON_POLL_MS = 1000  # if a poll ends between JoinGroup and SyncGroup, kafka-python loses the answer of SyncGroup


class Member(ABC):
    """One consumer. `assigned` are its partitions in ascending order."""

    def __init__(self, seen: deque[int]) -> None:
        self.assigned: list[int] = []
        self._seen, self._leaving = seen, False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._leaving:
            self._seen.extend(self.read())
        self.close()

    def leave(self) -> None:
        self._leaving = True
        self._thread.join()

    @abstractmethod
    def read(self) -> list[int]:
        """Returns new values and updates the assignment."""

    @abstractmethod
    def close(self) -> None:
        """Leaves the group."""


class Confluent(Member):
    def __init__(self, topic: str, settings: dict[str, Any], seen: deque[int]) -> None:
        self._consumer = confluent_kafka.Consumer(settings)
        self._consumer.subscribe([topic])
        super().__init__(seen)

    def read(self) -> list[int]:
        values = [int(message.value() or b"") for message in self._consumer.consume(1000, POLL_S) if message.error() is None]
        self.assigned = sorted(partition.partition for partition in self._consumer.assignment())
        return values

    def close(self) -> None:
        self._consumer.close()


class KafkaPython(Member):
    def __init__(self, topic: str, settings: dict[str, Any], seen: deque[int]) -> None:
        self._consumer = kafka.KafkaConsumer(topic, **settings)
        super().__init__(seen)

    def read(self) -> list[int]:
        values = [int(record.value) for records in self._consumer.poll(KAFKA_PYTHON_POLL_MS).values() for record in records]
        self.assigned = sorted(partition.partition for partition in self._consumer.assignment())
        return values

    def close(self) -> None:
        self._consumer.close()


class Members:
    """The methods that the parent process calls."""

    def __init__(self, kind: Callable[[str, dict[str, Any], deque[int]], Member]) -> None:
        self._kind = kind
        self._members: deque[Member] = deque()
        self._seen: deque[int] = deque()

    def join(self, topic: str, settings: dict[str, Any]) -> None:
        self._members.append(self._kind(topic, settings, self._seen))

    def leave(self) -> None:
        self._members.popleft().leave()

    def assignments(self) -> list[list[int]]:
        return [member.assigned for member in self._members]

    def drain(self) -> list[int]:
        return [self._seen.popleft() for _ in range(len(self._seen))]


if __name__ == "__main__":
    kinds: dict[str, Callable[[str, dict[str, Any], deque[int]], Member]] = {"confluent": Confluent, "kafka-python": KafkaPython}
    serve(Members(kinds[sys.argv[1]]), sys.stdin, sys.stdout)
