"""Groups of ten consumers of each library and protocol, which start together or one by one, and leave or are killed.

Each record is read at least once, and exactly once while the group is stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from odradek.broker import Cluster
from tests import apache_kafka
from tests.clients.member_processes import HEARTBEAT_INTERVAL_MS, LIBRARIES, SESSION_TIMEOUT_MS, MemberProcess, is_shared, wait_for
from tests.clients.polled_group import PARTITIONS, SETTINGS, produce

pytestmark = pytest.mark.clients
MEMBERS, RECORDS = 10, 20_000
ALIKE = ("confluent-range", "confluent-roundrobin")
"""Groups that lose a member as those of kafka-python do; only `make test-all` runs them."""
QUICK = {name: HEARTBEAT_INTERVAL_MS for name in SETTINGS if name.endswith("interval.ms")}
LONGER_SESSION = {"group.consumer.session.timeout.ms": SESSION_TIMEOUT_MS}


class Scene:
    """A cluster with the topic t, and processes with members of one group, which are killed at the end."""

    def __init__(self, cluster: Cluster, library: str, stack: ExitStack) -> None:
        if library.startswith("java") and (missing := apache_kafka.missing()) is not None:
            pytest.skip(f"{missing} is not installed")
        self.cluster, self.library, self._stack = cluster, library, stack
        self.seen: Counter[int] = Counter()

    def process(self, members: int) -> MemberProcess:
        process = MemberProcess(self.library, self.cluster.bootstrap_servers, "g", self.seen)
        self._stack.callback(process.kill)
        for _ in range(members):
            process.join()
        return process

    def read_once(self, numbers: range, *processes: MemberProcess) -> None:
        """Produces records and checks that each is read once."""
        produce(self.cluster, numbers)
        wait_for(lambda: bool(self.has_read(numbers, *processes)), *processes)
        assert max(self.seen[number] for number in numbers) == 1

    def has_read(self, numbers: range, *processes: MemberProcess) -> bool:
        for process in processes:
            process.assignments()
        return all(self.seen[number] for number in numbers)


@pytest.fixture
def scene(library: str) -> Iterator[Scene]:
    with Cluster(nodes=2, topics={"t": PARTITIONS}, settings=SETTINGS | QUICK | LONGER_SESSION) as cluster, ExitStack() as stack:
        yield Scene(cluster, library, stack)


@pytest.mark.parametrize("library", [pytest.param(name, marks=[pytest.mark.slow] if name in ALIKE else []) for name in LIBRARIES])
def test_large_group_survives_a_killed_member(scene: Scene) -> None:
    """Ten members start together. One of them, in a separate process, is killed, and the others take over its partitions."""
    process, killed = scene.process(MEMBERS - 1), scene.process(1)
    wait_for(lambda: is_shared(PARTITIONS, process, killed), process, killed)
    scene.read_once(range(RECORDS // 2), process, killed)
    killed.kill()
    wait_for(lambda: is_shared(PARTITIONS, process), process)
    scene.read_once(range(RECORDS // 2, RECORDS), process)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["java-cooperative", "java-consumer", "kafka-python", "confluent-range", "confluent-consumer"])
def test_large_group_grows_and_shrinks_by_single_members(scene: Scene) -> None:
    """Members join one after the other while records are written; then half of them leave."""
    process = scene.process(0)
    for number in range(MEMBERS):
        produce(scene.cluster, range(number * 1000, number * 1000 + 1000))
        process.join()
        wait_for(lambda: is_shared(PARTITIONS, process), process)
    wait_for(lambda: scene.has_read(range(MEMBERS * 1000), process), process)
    for _ in range(MEMBERS // 2):
        process.leave()
    wait_for(lambda: is_shared(PARTITIONS, process), process)
    scene.read_once(range(MEMBERS * 1000, RECORDS), process)
