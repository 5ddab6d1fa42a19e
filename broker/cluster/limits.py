"""Limits on what the clients of one node may take: connections, and memory for requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from ..settings.properties import InvalidConfig


class ConnectionQuotas:
    """How many connections there may be, in all and from one address (Kafka's ConnectionQuotas).

    `overrides` holds the limits of single addresses. Limits of single listeners and rates are not implemented.
    """

    def __init__(self, most: int, most_per_ip: int, overrides: Mapping[str, int] | None = None) -> None:
        self.most = most
        self._most_per_ip = most_per_ip
        self._overrides = overrides or {}
        self._hosts: Counter[str] = Counter()

    @property
    def full(self) -> bool:
        """Whether a new connection has to wait until another one ends."""
        return self._hosts.total() >= self.most

    def most_from(self, host: str) -> int:
        """How many connections there may be from an address."""
        return self._overrides.get(host, self._most_per_ip)

    def take(self, host: str) -> bool:
        """Counts a connection. Returns False, and counts nothing, if its address has as many as it may."""
        if self._hosts[host] >= self.most_from(host):
            return False
        self._hosts[host] += 1
        return True

    def release(self, host: str) -> None:
        """Counts a connection that has ended."""
        self._hosts[host] -= 1
        if not self._hosts[host]:
            del self._hosts[host]


def parse_overrides(text: str) -> dict[str, int]:
    """The numbers in max.connections.per.ip.overrides, `address:number,...`. Raises InvalidConfig.

    Names of hosts are not looked up, as a connection is known by its address alone.
    """
    overrides = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        host, _, number = part.rpartition(":")
        if not host or not number.strip().isdecimal():
            raise InvalidConfig(f"Invalid value {text} for configuration max.connections.per.ip.overrides: not address:number")
        overrides[host.strip()] = int(number)
    return overrides


class RequestMemory:
    """The memory of the requests that are being received (Kafka's SimpleMemoryPool, which is exceeded by one request at most).

    Only large requests take memory of their own. All others are received into memory that the connections share, and what is left of them
    between two turns is at most 256 KiB for each connection, which max.connections bounds; they are not counted here.
    A connection that is refused memory reads nothing until some is released. A capacity of 0 or less means that there is no limit.
    """

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self.used_bytes = 0
        self._waiting: dict[Callable[[], None], None] = {}

    def take(self, size: int, when_free: Callable[[], None]) -> bool:
        """Takes `size` bytes and returns True; else returns False, and `when_free` is called once when there may be memory again."""
        if 0 < self.capacity_bytes <= self.used_bytes:
            self._waiting[when_free] = None
            return False
        self.used_bytes += size
        return True

    def release(self, size: int) -> None:
        """Releases bytes, and tells those who wait for memory if there is some now."""
        self.used_bytes -= size
        if self._waiting and self.used_bytes < self.capacity_bytes:
            waiting, self._waiting = self._waiting, {}
            for when_free in waiting:
                when_free()

    def forget(self, when_free: Callable[[], None]) -> None:
        """Does not call `when_free` any more, because its connection is gone."""
        self._waiting.pop(when_free, None)
