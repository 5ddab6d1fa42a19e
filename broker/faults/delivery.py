"""Acts on when a request is served, and on when and how its response is written: hanging, delay, throttling, trickling, dropping."""

from __future__ import annotations

from random import Random

from ...protocol.frame import Buffer
from ...protocol.schema import Message, specs
from ..api.context import Context, Waiting
from ..api.gate import Answering, Asked, Channel
from ..api.registry import CloseConnection
from ..scheduling.waiting import Wait
from .acts import Act, Deliver, Delivering, Serve, wait_keeping_open


class Hang(Act):
    """Serves the request after `hang_ms`, or when the fault is removed, as if a firewall had begun to drop packets.

    Until then, nothing more is read from the connection, which stays open.
    """

    def __init__(self, hang_ms: int | None) -> None:
        self._hang_ms = hang_ms

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        yield from self._wait(asked.channel, asked.context)
        return (yield from rest(request))

    def hold(self, waiting: Waiting, channel: Channel, context: Context) -> Waiting:
        """Returns the response of a request that was in flight when the fault was added, and holds it back as well."""
        response = yield from waiting
        yield from self._wait(channel, context)
        return response

    def _wait(self, channel: Channel, context: Context) -> Delivering:
        fault = self.fault
        deadline_ms = None if self._hang_ms is None else context.now_ms + self._hang_ms
        while not fault.removed and (deadline_ms is None or context.now_ms < deadline_ms):
            yield wait_keeping_open(channel, context, fault, f"the end of fault {fault.number}, which lets requests hang", deadline_ms)


class Delay(Act):
    """The response waits for `delay_ms` and a random part of `jitter_ms`, and with it what follows on the connection."""

    def __init__(self, delay_ms: int, jitter_ms: int, random: Random) -> None:
        self._delay_ms = delay_ms
        self._jitter_ms = jitter_ms
        self._random = random

    def deliver(self, asked: Asked, parts: list[Buffer], rest: Deliver) -> Delivering:
        delay_ms = self._delay_ms + self._random.randint(0, self._jitter_ms)
        yield from _pause(asked, delay_ms, f"a delay of {delay_ms} ms (fault {self.fault.number})")
        yield from rest(parts)


class Throttle(Act):
    """The response says `throttle_time_ms`, and the next request is served that much later (KIP-219, Kafka's channel muting)."""

    def __init__(self, throttle_ms: int) -> None:
        self._throttle_ms = throttle_ms

    def serve(self, _asked: Asked, request: Message, rest: Serve) -> Answering:
        response = yield from rest(request)
        if response is not None and any(spec.name == "throttle_time_ms" for spec in specs(type(response))):
            response.throttle_time_ms = self._throttle_ms  # type: ignore[attr-defined]
        return response

    def deliver(self, asked: Asked, parts: list[Buffer], rest: Deliver) -> Delivering:
        yield from rest(parts)
        yield from _pause(asked, self._throttle_ms, f"the throttle time of {self._throttle_ms} ms (fault {self.fault.number})")


class Trickle(Act):
    """The response is written in chunks, as fast as `bytes_per_s` allows."""

    def __init__(self, bytes_per_s: int | None, chunk_bytes: int) -> None:
        self._bytes_per_s = bytes_per_s
        self._chunk_bytes = chunk_bytes

    def deliver(self, asked: Asked, parts: list[Buffer], rest: Deliver) -> Delivering:
        data = memoryview(b"".join(parts))
        began_ms = asked.context.now_ms
        for position in range(0, len(data), self._chunk_bytes):
            yield from rest([data[position : position + self._chunk_bytes]])
            written = min(position + self._chunk_bytes, len(data))
            due_ms = began_ms + (written * 1000 // self._bytes_per_s if self._bytes_per_s else 0)
            # Without a rate, the chunks are written one millisecond apart, so that the kernel sends each by itself.
            yield Wait((), max(due_ms, asked.context.now_ms + 1), what=f"the rate of fault {self.fault.number}")


class Drop(Act):
    """The response is not written. The work is done if the stage is "after". `close` ends the connection.

    Otherwise the connection stays open without being served any more, because clients take responses in the order of their requests: the
    response to a later request would look like the missing one. A Produce with acks=0 has no response, so only its work may be left out.
    """

    def __init__(self, stage: str, close: str | None) -> None:
        self._stage = stage
        self._close = close

    def serve(self, _asked: Asked, request: Message, rest: Serve) -> Answering:
        if self._stage == "after":
            yield from rest(request)
        return None

    def deliver(self, asked: Asked, _parts: list[Buffer], _rest: Deliver) -> Delivering:
        if self._close is not None:
            raise CloseConnection("a fault dropped the response", reset=self._close == "rst")
        while getattr(asked.request, "acks", None) != 0:
            yield wait_keeping_open(asked.channel, asked.context, self, f"a response that fault {self.fault.number} has dropped")


class Cut(Act):
    """The first bytes of the response are written, then the connection is closed."""

    def __init__(self, cut_at_bytes: int, close: str) -> None:
        self._cut_at_bytes = cut_at_bytes
        self._close = close

    def deliver(self, _asked: Asked, parts: list[Buffer], rest: Deliver) -> Delivering:
        yield from rest([b"".join(parts)[: self._cut_at_bytes]])
        raise CloseConnection(f"a fault cut the response at {self._cut_at_bytes} bytes", reset=self._close == "rst")


def _pause(asked: Asked, milliseconds: int, what: str) -> Delivering:
    if milliseconds:
        yield Wait((), asked.context.now_ms + milliseconds, what=what)
