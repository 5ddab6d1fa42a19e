"""The interface of acts, and the chain in which the acts of a request are run.

An act wraps two steps. `serve` wraps the work: it may serve the request later, partly or not at all, and may change the response.
`deliver` wraps the writing: it may delay the response, change its bytes or close the connection. Both receive the rest of the chain as a
function. The acts of the first fault are outermost.

Because a connection has one request in flight, everything that the chain waits for also holds back the requests that follow.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from typing import TYPE_CHECKING

from ...protocol.errors import KafkaError
from ...protocol.frame import LENGTH, Buffer, encode_request, encode_response_in_slices
from ...protocol.schema import Message, specs
from ..api.context import Context
from ..api.failure import failure
from ..api.gate import Answering, Asked, Channel
from ..scheduling.waiting import NEXT_TURN, Wait

if TYPE_CHECKING:
    from .fault import Fault

Delivering = Generator[Wait, None, None]
Serve = Callable[[Message], Answering]
Deliver = Callable[[list[Buffer]], Delivering]
Hit = tuple["Fault", tuple["Fault", ...]]
"""A fault that hits a request, and the faults after it."""


class Act:
    """One act of a fault, which sets `fault`. By itself it changes nothing.

    An act that finds out only from the response whether it applies sets `strikes_later`, and calls `fault.strike` itself.
    """

    strikes_later = False
    fault: Fault

    def serve(self, _asked: Asked, request: Message, rest: Serve) -> Answering:
        """Returns the response to `request`, which `rest` computes."""
        return (yield from rest(request))

    def deliver(self, _asked: Asked, parts: list[Buffer], rest: Deliver) -> Delivering:
        """Writes the response by `rest`. `parts` is empty if there is no response."""
        yield from rest(parts)


def make_readable(response: Message, version: int) -> Message:
    """Returns a response whose items can be read. Handlers leave arrays of some responses in encoded form."""
    kind = type(response)
    return kind.decode(version, response.encode(version)) if _may_have_encoded_items(kind) else response


def _may_have_encoded_items(kind: type[Message]) -> bool:
    return any(spec.declared.encoded or (isinstance(spec.kind, type) and _may_have_encoded_items(spec.kind)) for spec in specs(kind))


def wait_keeping_open(channel: Channel, context: Context, key: Hashable, what: str, deadline_ms: int | None = None) -> Wait:
    """Returns a wait for a key or a deadline that ends early enough to keep the connection from being closed as idle.

    `what` names what is waited for.
    """
    channel.touch()
    idle_ms = context.broker.max_idle_ms
    if idle_ms >= 0:
        soon_ms = context.now_ms + max(idle_ms // 2, 1)
        deadline_ms = soon_ms if deadline_ms is None else min(soon_ms, deadline_ms)
    return Wait((key,), deadline_ms, what=what)


class Chain:
    """The acts that one request runs through. `next_hit` returns the first of some faults that hits a request, and those after it."""

    def __init__(self, asked: Asked, next_hit: Callable[[Asked, Message, tuple[Fault, ...]], Hit | None]) -> None:
        self._asked = asked
        self._next_hit = next_hit
        self._acts: list[Act] = []

    def run(self, hit: Hit) -> Answering:
        """Serves the request, which a fault hits, and writes the response. Returns None."""
        asked = self._asked
        response = yield from self._through(hit, asked.request)
        parts: list[Buffer] = []
        if response is not None:
            header = asked.header
            for _ in encode_response_in_slices(header.api, header.version, header.correlation_id, response, parts):
                yield NEXT_TURN
        yield from self._deliver(0, parts)
        return None

    def _through(self, hit: Hit, request: Message) -> Answering:
        fault, following = hit
        self._acts += fault.acts
        return (yield from self._serve(fault, 0, following, request))

    def _serve(self, fault: Fault, act: int, following: tuple[Fault, ...], request: Message) -> Answering:
        if act == len(fault.acts):
            return (yield from self._work(following, request))
        return (yield from fault.acts[act].serve(self._asked, request, lambda rest: self._serve(fault, act + 1, following, rest)))

    def _work(self, faults: tuple[Fault, ...], request: Message) -> Answering:
        """Lets the next fault that hits serve the request, or the handler if there is none."""
        if (hit := self._next_hit(self._asked, request, faults)) is not None:
            return (yield from self._through(hit, request))
        asked = self._asked
        if request is not asked.request:
            asked.context.frame = _frame_of(asked, request)
        try:
            answer = asked.rule(request, asked.context)
            return (yield from answer) if isinstance(answer, Generator) else answer
        except KafkaError as error:
            return failure(asked.header.api, request, error.code, error.message)

    def _deliver(self, act: int, parts: list[Buffer]) -> Delivering:
        if act < len(self._acts):
            yield from self._acts[act].deliver(self._asked, parts, lambda rest: self._deliver(act + 1, rest))
        elif parts:
            self._asked.channel.write(parts)


def _frame_of(asked: Asked, request: Message) -> memoryview:
    """Returns the bytes of a request that an act has changed, because a handler may look at both."""
    header = asked.header
    parts = encode_request(header.api, header.version, header.correlation_id, header.client_id or "", request)
    return memoryview(b"".join(parts))[LENGTH.size :]
