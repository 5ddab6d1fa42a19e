"""Group members in child processes, which can be killed."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import apache_kafka
from tests.clients.child import Child

PATIENCE_S = 180
SESSION_TIMEOUT_MS, HEARTBEAT_INTERVAL_MS = 6_000, 50
"""The session timeout is Kafka's minimum, because a member on a loaded machine may be silent for seconds."""
_JAVA = {"auto.offset.reset": "earliest", "auto.commit.interval.ms": 100}
_JAVA_CLASSIC = _JAVA | {"session.timeout.ms": SESSION_TIMEOUT_MS, "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS}
_ASSIGNORS = "org.apache.kafka.clients.consumer."
_CONFLUENT = _JAVA_CLASSIC | {"log_level": 0}
_KAFKA_PYTHON = {
    "auto_offset_reset": "earliest",
    "auto_commit_interval_ms": 100,
    "session_timeout_ms": SESSION_TIMEOUT_MS,
    "heartbeat_interval_ms": HEARTBEAT_INTERVAL_MS,
    "max_poll_records": 10_000,
}
LIBRARIES: dict[str, tuple[str, dict[str, Any]]] = {
    "java-range": ("java", _JAVA_CLASSIC | {"partition.assignment.strategy": f"{_ASSIGNORS}RangeAssignor"}),
    "java-cooperative": ("java", _JAVA_CLASSIC | {"partition.assignment.strategy": f"{_ASSIGNORS}CooperativeStickyAssignor"}),
    "java-consumer": ("java", _JAVA | {"group.protocol": "consumer"}),
    "kafka-python": ("kafka-python", _KAFKA_PYTHON),
    "confluent-range": ("confluent", _CONFLUENT | {"partition.assignment.strategy": "range"}),
    "confluent-roundrobin": ("confluent", _CONFLUENT | {"partition.assignment.strategy": "roundrobin"}),
    "confluent-cooperative": ("confluent", _CONFLUENT | {"partition.assignment.strategy": "cooperative-sticky"}),
    "confluent-consumer": ("confluent", _JAVA | {"group.protocol": "consumer", "log_level": 0}),
}
"""The program that runs the members, and their settings."""


def command(library: str) -> list[str]:
    """Returns the command line of a child process."""
    if library == "java":
        return apache_kafka.command(str(Path(__file__).with_name("GroupClient.java")))
    return [sys.executable, "-m", "tests.clients.group_members", library]


class MemberProcess:
    """Members of a group in one child process. `seen` counts how often each record was read."""

    def __init__(self, name: str, bootstrap_servers: str, group: str, seen: Counter[int]) -> None:
        library, settings = LIBRARIES[name]
        point = "_" if library == "kafka-python" else "."
        servers: Any = bootstrap_servers.split(",") if library == "kafka-python" else bootstrap_servers
        self._settings = settings | {f"bootstrap{point}servers": servers, f"group{point}id": group}
        self._child = Child(command(library))
        self.seen = seen

    def join(self) -> None:
        self._child.call(0, "join", "t", self._settings)

    def leave(self) -> None:
        self._child.call(0, "leave")

    def assignments(self) -> list[list[int]]:
        """Returns the partitions of each member, and updates `seen`."""
        self.seen.update(self._child.call(0, "drain"))
        shares: list[list[int]] = self._child.call(0, "assignments")
        return shares

    def kill(self) -> None:
        """Kills the process, so that its members do not leave the group; the kernel closes their sockets."""
        self._child.kill()


def wait_for(until: Callable[[], bool], *processes: MemberProcess) -> None:
    """Waits until the condition is true, or fails after PATIENCE_S."""
    deadline = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < deadline, [process.assignments() for process in processes]


def is_shared(partitions: int, *processes: MemberProcess) -> bool:
    """Returns whether each partition has one owner and the members have equal shares (up to one partition)."""
    shares = [share for process in processes for share in process.assignments()]
    even = max(map(len, shares)) - min(map(len, shares)) <= 1
    return even and sorted(index for share in shares for index in share) == list(range(partitions))
