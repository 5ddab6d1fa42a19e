"""What one connection writes down in the record: its requests, their responses, what they wait for, and how the connection ends."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...protocol.frame import Buffer
from ..context import Client
from ..scheduling.timers import Timers
from ..scheduling.waiting import NEXT_TURN, Wait
from .record import ANSWERED_S, RESPONSES, WRITTEN_MS, WRITTEN_S, Flight, Peer, Record, Run

if TYPE_CHECKING:
    from ..cluster.broker import Broker

MOST_NAMED = 3
"""How many of the things that a request waits for are named."""
MOST_WAITS = 20
_SETTING = re.compile(r"\b[a-z]+(?:\.[a-z]+){2,}\b")


class Recording:
    """The part of the record that belongs to one connection. `flight` is the request that is being served, or None."""

    __slots__ = ("_client", "_clock", "_node", "_peer", "_record", "_timers", "_unwritten", "flight", "received_ms", "received_s")

    def __init__(self, record: Record, client: Client, broker: Broker, timers: Timers, clock: Callable[[], float]) -> None:
        self._record = record
        self._client = client
        self._node = broker.node_id
        self._timers = timers
        self._clock = clock
        self.flight: Flight | None = None
        self.received_ms: int = timers.now_ms
        self.received_s = clock()
        self._unwritten: list[Flight | Run] = []
        self._peer = self._present_peer()
        self.tell("connection opened", f"{self._peer.address} connects to {client.listener_name}", {"peer": self._peer.address})

    def _present_peer(self) -> Peer:
        client = self._client
        software = f"{client.software_name} {client.software_version}".strip()
        address = f"{client.client_host}:{client.client_port}"
        return Peer(self._node, client.listener_name, client.connection_id, address, software, client.principal)

    @property
    def _now(self) -> tuple[int, float]:
        return self._timers.now_ms, self._clock()

    def tell(self, kind: str, text: str, fields: dict[str, str | int]) -> None:
        """Adds an event of this connection."""
        self._record.tell(kind, self._now, text, self._node, self._client.connection_id, fields)

    # Requests

    def run(self, data: memoryview, count: int, responses: list[Buffer], response_bytes: int) -> None:
        """Adds requests that a shortcut has answered at once."""
        run = self._record.add_run(self._peer, data, count, responses, response_bytes, self.received_ms, self.received_s)
        run[ANSWERED_S] = self._clock()
        if responses:
            self._unwritten.append(run)

    def begin(self, frame: memoryview, is_token: bool = False) -> None:
        """Adds a request that is going to be served."""
        peer, client = self._peer, self._client
        if peer.principal is not client.principal or not peer.software.endswith(client.software_version):
            self._peer = self._present_peer()
        self.flight = self._record.begin(self._peer, (self.received_ms, self.received_s), frame, is_token)

    def respond(self, parts: list[Buffer]) -> None:
        """Adds bytes to the response of the request that is being served."""
        flight = self.flight
        if flight is not None:
            if flight.response is None:
                self._unwritten.append(flight)
            self._record.respond(flight, parts)
            flight.answered, flight.written = self._now, None

    def finish(self) -> None:
        """Ends the request that is being served. It has no response unless there is one by now."""
        flight, self.flight = self.flight, None
        if flight is not None and flight.answered is None:
            flight.answered = self._now

    def wait(self, wait: Wait) -> None:
        """Adds what the request that is being served begins to wait for."""
        flight = self.flight
        if flight is not None and wait is not NEXT_TURN and len(flight.waits) < MOST_WAITS:
            text = wait.what or _named(wait)
            if text not in flight.waits:
                flight.waits += (text,)

    def struck(self, fault: str) -> None:
        """Adds a fault that has hit the request that is being served."""
        if self.flight is not None:
            self.flight.faults += (fault,)

    # Output

    def taken(self, left_bytes: int) -> None:
        """Called when output has been passed to the socket, with the number of bytes that are left."""
        now_ms, now_s = self._timers.now_ms, self._clock()
        unwritten = self._unwritten
        if left_bytes:
            unwritten, self._unwritten = self._divided(left_bytes)
        else:
            self._unwritten = []
        for each in unwritten:
            if isinstance(each, list):
                each[WRITTEN_MS], each[WRITTEN_S] = now_ms, now_s
            else:
                each.written = now_ms, now_s

    def _divided(self, left_bytes: int) -> tuple[list[Flight | Run], list[Flight | Run]]:
        """Returns the requests whose responses have been written completely, and the others, whose bytes are the last `left_bytes`."""
        written = list(self._unwritten)
        unwritten = []
        while written and left_bytes > 0:
            each = written.pop()
            unwritten.append(each)
            left_bytes -= sum(map(len, each[RESPONSES])) if isinstance(each, list) else each.response_bytes
        return written, unwritten[::-1]

    # The end

    def ended(self, reason: str, *, by_client: bool, resets: bool) -> None:
        """Adds the end of the connection, and by whom and why it was ended, also to the request that was being served."""
        how = "RST" if resets else "FIN"
        text = f"{how} by the client" if by_client else f"{how} by the broker: {reason}"
        if self.flight is not None:
            self.flight.ended, self.flight = text, None
        fields: dict[str, str | int] = {"peer": self._peer.address, "by": "client" if by_client else "broker", "how": how}
        if not by_client:
            fields["reason"] = reason
            if setting := _SETTING.search(reason):
                fields["setting"] = setting[0]
        self.tell("connection closed", text, fields)


def _named(wait: Wait) -> str:
    """Returns what a request waits for whose handler does not say: records of partitions, or some time."""
    names = [repr(key) for _, key in zip(range(MOST_NAMED + 1), wait.keys, strict=False)]
    if not names:
        return "some time"
    return f"records of {', '.join(names[:MOST_NAMED])}{' and others' if len(names) > MOST_NAMED else ''}"
