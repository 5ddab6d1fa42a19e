"""Limits the rate at which a node accepts connections (KIP-612, Kafka's ConnectionQuotas).

`max.connection.creation.rate` limits a node and, with a listener's prefix, one listener: above it, connections are accepted later. The
quota connection_creation_rate limits an address: above it, a connection is accepted, held for the throttle time, and closed without having
been served. Such a connection does not count for the node and the listener.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..settings.values import BrokerConfig
from .rates import QuotaWindow
from .request_quotas import LimitedRate

if TYPE_CHECKING:
    from ..cluster.quotas import ClientQuotas

SETTING = "max.connection.creation.rate"
UNLIMITED = 2**31 - 1
PURGE_AT_LEAST = 1000
IDLE_MS = 3_600_000
"""The time after which the measurement of a silent address is removed."""


class Admission(NamedTuple):
    """How long a new connection waits to be served, or, if it is `refused`, to be closed; in ms."""

    wait_ms: int
    refused: bool


AT_ONCE = Admission(0, refused=False)


class ConnectionRates:
    """The rates at which connections to one node were created: in total, by listener, and by address."""

    def __init__(self, config: BrokerConfig, quotas: ClientQuotas) -> None:
        self._config = config
        self._quotas = quotas
        self._window = QuotaWindow(config.integers["quota.window.num"], config.integers["quota.window.size.seconds"] * 1000)
        self._node = LimitedRate(self._window, UNLIMITED, longest_ms=self._window.window_ms)
        self._listeners: dict[str, LimitedRate] = {}
        self._hosts: dict[str, LimitedRate] = {}
        self._purge_at = PURGE_AT_LEAST

    def admit(self, listener_name: str, host: str, now_ms: int) -> Admission:
        """Counts a new connection and returns whether and when it is served."""
        node_limit = self._config.integers[SETTING]
        listener_limit = self._config.listener_integer(listener_name, SETTING)
        rates = [(self._node, node_limit), (self._listener(listener_name), listener_limit)]
        counted, wait_ms = [], 0
        for rate, limit in rates:
            if limit < UNLIMITED:
                rate.limit = limit
                wait_ms = max(wait_ms, rate.record(1, now_ms))
                counted.append(rate)
        if (address_limit := self._quotas.connection_rate(host)) is not None:
            own = self._host(host)
            own.limit = address_limit
            if refused_ms := own.record(1, now_ms):
                for rate in (own, *counted):
                    rate.take_back(1, now_ms)
                return Admission(refused_ms, refused=True)
        return Admission(wait_ms, refused=False) if wait_ms else AT_ONCE

    def _listener(self, name: str) -> LimitedRate:
        return self._listeners.setdefault(name, LimitedRate(self._window, UNLIMITED, longest_ms=self._window.window_ms))

    def _host(self, host: str) -> LimitedRate:
        if host not in self._hosts:
            if len(self._hosts) >= self._purge_at:
                latest_ms = max(each.used_ms for each in self._hosts.values())
                self._hosts = {name: each for name, each in self._hosts.items() if each.used_ms > latest_ms - IDLE_MS}
                self._purge_at = max(PURGE_AT_LEAST, 2 * len(self._hosts))
            self._hosts[host] = LimitedRate(self._window, UNLIMITED, longest_ms=self._window.window_ms)
        return self._hosts[host]
