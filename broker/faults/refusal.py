"""A fault of new connections, which are refused, closed or never answered.

A listener that refuses does not listen: the kernel answers the client, and the cluster never learns of it, so that such a fault has no
hits. In the other modes each new connection is a hit. The requests of a connection that is never answered hang until the fault is removed.
"""

from __future__ import annotations

from random import Random

from ...protocol.schema import Message
from ..api.gate import Asked, Channel
from ..api.registry import CloseConnection
from ..cluster.broker import Broker
from .elements import Elements
from .exchange import Exchange
from .fault import Fault, Schedule
from .hang import Hang
from .match import Criteria, Mismatch

MODES = ("refused", "closed", "silent")
CONNECTION = "connection"
"""Takes the place of an API where the hits and misses of a fault are listed."""


class Refusal(Fault):
    """A fault of new connections. With the mode "closed", `reset` decides between RST and FIN."""

    subject = "connection"

    def __init__(
        self, number: int, text: str, criteria: Criteria, schedule: Schedule, random: Random, *, mode: str, reset: bool = False
    ) -> None:
        super().__init__(number, text, criteria, schedule, [Hang(None)], random)
        self._mode = mode
        self._reset = reset
        self._silent: set[int] = set()

    def takes(self, asked: Asked, _request: Message, _elements: Elements) -> Mismatch | None:
        """Returns None if the request came on a connection that is never answered."""
        if asked.channel.client.connection_id not in self._silent:
            return Mismatch(CONNECTION)
        asked.channel.struck(str(self))
        return None

    def miss(self, api: str, reason: Mismatch, count: int = 1) -> None:
        """Counts connections that were not hit. Requests of connections that were open before are not counted."""
        if api == CONNECTION:
            super().miss(api, reason, count)

    def refuses(self, broker: Broker, listener_name: str) -> bool:
        """Returns whether a listener of a broker does not listen."""
        return self._mode == "refused" and self.criteria.connection_mismatch(broker, listener_name) is None

    def opened(self, channel: Channel, broker: Broker) -> None:
        """Closes or silences a new connection that matches. Raises CloseConnection."""
        if self._mode == "refused":
            return
        client, now_ms = channel.client, broker.cluster.timers.now_ms
        if (reason := self.criteria.connection_mismatch(broker, client.listener_name, client.client_host)) is not None:
            return self.miss(CONNECTION, reason)
        if self.not_due(CONNECTION) is None:
            self.hit(Exchange(now_ms, broker.node_id, client.connection_id, "", CONNECTION, 0, 0, ()))
            if self._mode == "closed":
                raise CloseConnection(f"fault {self.number} closes new connections", reset=self._reset)
            self._silent.add(client.connection_id)
