"""Limits on the clients of one node: the number of connections, and the memory of requests that are being received."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from ..settings.properties import InvalidConfig


class ConnectionQuotas:
    """Limits the number of connections, in total and by address (Kafka's ConnectionQuotas).

    `overrides` maps single addresses to limits of their own. Rates of connections are limited in
    `throttling/connection_rates.py`. Limits per listener are not implemented.
    """

    def __init__(self, limit: int, limit_per_ip: int, overrides: Mapping[str, int] | None = None) -> None:
        self.limit = limit
        self._limit_per_ip = limit_per_ip
        self._overrides = overrides or {}
        self._hosts: Counter[str] = Counter()

    @property
    def full(self) -> bool:
        """Whether the total limit is reached, so that a new connection has to wait until another one is closed."""
        return self._hosts.total() >= self.limit

    def limit_of(self, host: str) -> int:
        """Returns the maximum number of connections from an address."""
        return self._overrides.get(host, self._limit_per_ip)

    def take(self, host: str) -> bool:
        """Counts a new connection. Returns False, and does not count it, if the limit of its address is reached."""
        if self._hosts[host] >= self.limit_of(host):
            return False
        self._hosts[host] += 1
        return True

    def release(self, host: str) -> None:
        """Stops counting a connection that was closed."""
        self._hosts[host] -= 1
        if not self._hosts[host]:
            del self._hosts[host]


def parse_overrides(text: str) -> dict[str, int]:
    """Returns the limits in max.connections.per.ip.overrides, `address:number,...`. Raises InvalidConfig.

    Host names are not resolved, although Kafka does so, because the broker core does no I/O.
    """
    overrides = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        host, _, number = part.rpartition(":")
        if not host or not number.strip().isdecimal():
            raise InvalidConfig(f"Invalid value {text} for configuration max.connections.per.ip.overrides: not address:number")
        overrides[host.strip()] = int(number)
    return overrides


class RequestMemory:
    """Limits the memory of requests that are being received (Kafka's SimpleMemoryPool).

    Memory is granted as long as fewer than `capacity_bytes` are in use, so the last grant may exceed the capacity, as in Kafka. A
    connection that is refused memory stops reading until some is released. A capacity of 0 or less means no limit.

    Only large requests are counted. Small requests are received into memory that all connections share, and an incomplete one keeps at most
    256 KiB for its connection between two turns. max.connections limits the total of these.
    """

    def __init__(self, capacity_bytes: int) -> None:
        self.capacity_bytes = capacity_bytes
        self.used_bytes = 0
        self._waiting: dict[Callable[[], None], None] = {}

    def take(self, size: int, when_free: Callable[[], None]) -> bool:
        """Grants `size` bytes and returns True.

        If no memory is available, returns False and registers `when_free`, which is called once when memory is released.
        """
        if 0 < self.capacity_bytes <= self.used_bytes:
            self._waiting[when_free] = None
            return False
        self.used_bytes += size
        return True

    def release(self, size: int) -> None:
        """Releases `size` bytes, and calls the registered `when_free` callbacks if memory is available now."""
        self.used_bytes -= size
        if self._waiting and self.used_bytes < self.capacity_bytes:
            waiting, self._waiting = self._waiting, {}
            for when_free in waiting:
                when_free()

    def forget(self, when_free: Callable[[], None]) -> None:
        """Removes the callback of a connection that was closed."""
        self._waiting.pop(when_free, None)
