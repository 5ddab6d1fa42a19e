"""The act that leaves a request unread and unanswered while the connection stays open, as after a firewall has begun to drop packets."""

from __future__ import annotations

from ...protocol.schema import Message
from ..api.context import Context, Waiting
from ..api.gate import Answering, Asked, Channel
from .acts import Act, Delivering, Serve, kept_open
from .fault import Fault


class Hang(Act):
    """Serves the request after `hang_ms`, or when the fault is removed. Until then, nothing more is read from the connection."""

    def __init__(self, hang_ms: int | None) -> None:
        self._hang_ms = hang_ms

    def serve(self, asked: Asked, request: Message, fault: Fault, rest: Serve) -> Answering:
        yield from self._wait(asked.channel, asked.context, fault)
        return (yield from rest(request))

    def hold(self, waiting: Waiting, channel: Channel, context: Context, fault: Fault) -> Waiting:
        """Returns the response of a request that was in flight when the fault was added, and holds it back as well."""
        response = yield from waiting
        yield from self._wait(channel, context, fault)
        return response

    def _wait(self, channel: Channel, context: Context, fault: Fault) -> Delivering:
        deadline_ms = None if self._hang_ms is None else context.now_ms + self._hang_ms
        while not fault.removed and (deadline_ms is None or context.now_ms < deadline_ms):
            yield kept_open(channel, context, fault, f"the end of fault {fault.number}, which lets requests hang", deadline_ms)
