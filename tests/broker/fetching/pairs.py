"""Two clients that send the same requests, of which one has a template in its shortcut."""

from __future__ import annotations

from typing import Any

from odradek.broker.api.context import Undecoded
from odradek.broker.topics.partition import Partition
from tests.broker.fetching.frames import request, response
from tests.broker.harness import Client, World, produce

WAIT_MS = 500


class Pair:
    """Two clients that send the same requests. The requests of `taught` fit its template, and `fresh` has none."""

    def __init__(self, replicas: int = 1, **options: Any) -> None:
        self.world = World(replicas)
        self.world.cluster.topics.create("t", 1, replicas)
        self.options = {"max_wait_ms": WAIT_MS, **options}
        produce(self.world, "t", b"first")
        self.taught = self.client()
        data = self.request(1)
        response(self.taught, data)
        self.world.advance(WAIT_MS)
        self.taught.sent.clear()

    @property
    def partition(self) -> Partition:
        (partition,) = self.world.cluster.topics["t"].partitions
        return partition

    @property
    def follower(self) -> int:
        return next(node for node in self.partition.replicas if node != self.partition.leader)

    def client(self) -> Client:
        return self.world.client(self.partition.leader)

    def request(self, offset: int) -> bytes:
        return request(self.world, offset, **self.options)

    def send(self, offset: int) -> None:
        """Sends a fetch of both clients. `fresh` is a new client, because it must not have a template."""
        self.fresh, data = self.client(), self.request(offset)
        self.taught.feed(data)
        self.fresh.feed(data)

    @property
    def is_kept(self) -> bool:
        """Whether the taught client's request waits in the shortcut, and the other one does not."""
        assert not isinstance(self.fresh.connection.parked, Undecoded)
        return isinstance(self.taught.connection.parked, Undecoded)

    def received(self) -> bytes:
        """Returns the bytes that both clients have received since the last call, which must be equal."""
        assert self.taught.sent == self.fresh.sent
        assert (self.taught.connection.parked is None) == (self.fresh.connection.parked is None)
        data = bytes(self.taught.sent)
        self.taught.sent.clear()
        self.fresh.sent.clear()
        return data
