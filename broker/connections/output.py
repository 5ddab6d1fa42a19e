"""The responses of one connection that are not written yet. They are collected until the end of a turn, when the edge takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...protocol.frame import Buffer, RequestHeader, encode_response, encode_response_in_slices
from ...protocol.schema import Message
from ..api.gate import Answering
from ..scheduling.waiting import NEXT_TURN

if TYPE_CHECKING:
    from ..wire.recording import Recording
    from .core import Core


class Output:
    """The output of a connection. `on_output` is called at the end of a turn in which there is something to write or to close.

    `recording` writes down what is on the wire (`wire/`). It is None if the record is switched off.
    """

    def __init__(self, core: Core, recording: Recording | None, on_output: Callable[[], None]) -> None:
        self.core = core
        self.recording = recording
        self.on_output = on_output
        self.output: list[Buffer] = []
        self.output_bytes = 0
        self._flush_is_put_off = False

    def struck(self, fault: str) -> None:
        """Writes down that a fault has hit the request in flight."""
        if self.recording is not None:
            self.recording.struck(fault)

    def send(self, header: RequestHeader, response: Message | None) -> None:
        """Queues a response, unless it is None. Raises ProtocolError if it cannot be encoded."""
        if response is not None:
            self.write(encode_response(header.api, header.version, header.correlation_id, response))

    def send_in_slices(self, header: RequestHeader, response: Message) -> Answering:
        """Encodes a response in slices and queues it. Raises ProtocolError if it cannot be encoded."""
        parts: list[Buffer] = []
        for _ in encode_response_in_slices(header.api, header.version, header.correlation_id, response, parts):
            yield NEXT_TURN
        self.write(parts)
        return None

    def write(self, parts: list[Buffer]) -> None:
        """Queues a response for the flush at the end of this turn."""
        size = sum(map(len, parts))
        if self.recording is not None:
            self.recording.respond(parts, size)
        if not self.output:
            self.ask_for_flush()
        self.output += parts
        self.output_bytes += size

    def take_joined(self) -> bytes:
        """Removes and returns all output."""
        joined = b"".join(self.output)
        self.output, self.output_bytes = [], 0
        if self.recording is not None and self.recording.unwritten:
            self.recording.taken()
        return joined

    def take_output(self, limit: int | None = None) -> list[Buffer]:
        """Removes and returns the next bytes to write, in order: all of them, or at most `limit` bytes."""
        output = self.output
        if limit is None or self.output_bytes <= limit:
            self.output, self.output_bytes = [], 0
            if self.recording is not None:
                self.recording.taken()
            return output
        if self.recording is not None:
            self.recording.taken(self.output_bytes - limit)
        taken, room, number = [], limit, 0
        while len(output[number]) <= room:
            taken.append(output[number])
            room -= len(output[number])
            number += 1
        cut = memoryview(output[number])
        if room:
            taken.append(cut[:room])
        self.output = [cut[room:], *output[number + 1 :]]
        self.output_bytes -= limit
        return taken

    def flush_later(self) -> None:
        """Schedules the rest of the output for the next turn, so that other connections are served first."""
        if not self._flush_is_put_off:
            self._flush_is_put_off = True
            self.core.turns.put_off(self._flush_now)

    def _flush_now(self) -> None:
        self._flush_is_put_off = False
        self.ask_for_flush()

    def ask_for_flush(self) -> None:
        """Schedules a flush of this connection for the end of this turn."""
        raise NotImplementedError
