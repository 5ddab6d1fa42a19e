"""Ten consumers of each library and protocol: they start at once or one by one, leave politely or die, and every record is read.

Each of the records is read at least once, and once only while the group is stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from odradek.broker import Cluster
from tests import apache_kafka
from tests.clients.groups import HEARTBEAT_INTERVAL_MS, LIBRARIES, Crowd, is_shared, wait_for
from tests.clients.test_groups import PARTITIONS, SETTINGS, produce

pytestmark = pytest.mark.clients
MEMBERS, RECORDS = 10, 20_000
QUICK = {name: HEARTBEAT_INTERVAL_MS for name in SETTINGS if name.endswith("interval.ms")}


class Scene:
    """A cluster with topic t, and crowds of one group that are ended at the end."""

    def __init__(self, cluster: Cluster, library: str, stack: ExitStack) -> None:
        if library.startswith("java") and (lacking := apache_kafka.missing()) is not None:
            pytest.skip(f"no {lacking}")
        self.cluster, self.library, self._stack = cluster, library, stack
        self.seen: Counter[int] = Counter()

    def crowd(self, members: int) -> Crowd:
        crowd = Crowd(self.library, self.cluster.bootstrap_servers, "g", self.seen)
        self._stack.callback(crowd.die)
        for _ in range(members):
            crowd.join()
        return crowd

    def read_once(self, numbers: range, *crowds: Crowd) -> None:
        """Produces, and each record is read by one member."""
        produce(self.cluster, numbers)
        wait_for(lambda: bool(self.all_of(numbers, *crowds)), *crowds)
        assert max(self.seen[number] for number in numbers) == 1

    def all_of(self, numbers: range, *crowds: Crowd) -> bool:
        for crowd in crowds:
            crowd.assignments()
        return all(self.seen[number] for number in numbers)


@pytest.fixture
def scene(library: str) -> Iterator[Scene]:
    with Cluster(nodes=2, topics={"t": PARTITIONS}, settings=SETTINGS | QUICK) as cluster, ExitStack() as stack:
        yield Scene(cluster, library, stack)


@pytest.mark.parametrize("library", LIBRARIES)
def test_at_once_and_one_dies(scene: Scene) -> None:
    """Ten begin together. Then one of a process of its own, which is killed: the others take over."""
    crowd, mortal = scene.crowd(MEMBERS - 1), scene.crowd(1)
    wait_for(lambda: is_shared(PARTITIONS, crowd, mortal), crowd, mortal)
    scene.read_once(range(RECORDS // 2), crowd, mortal)
    mortal.die()
    wait_for(lambda: is_shared(PARTITIONS, crowd), crowd)
    scene.read_once(range(RECORDS // 2, RECORDS), crowd)


@pytest.mark.parametrize("library", ["java-cooperative", "java-consumer", "kafka-python", "confluent-range", "confluent-consumer"])
def test_one_by_one(scene: Scene) -> None:
    """Each comes when the one before has its share, while records come; then half of them leave."""
    crowd = scene.crowd(0)
    for number in range(MEMBERS):
        produce(scene.cluster, range(number * 1000, number * 1000 + 1000))
        crowd.join()
        wait_for(lambda: is_shared(PARTITIONS, crowd), crowd)
    wait_for(lambda: scene.all_of(range(MEMBERS * 1000), crowd), crowd)
    for _ in range(MEMBERS // 2):
        crowd.leave()
    wait_for(lambda: is_shared(PARTITIONS, crowd), crowd)
    scene.read_once(range(MEMBERS * 1000, RECORDS), crowd)
