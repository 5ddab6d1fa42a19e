"""The output of one connection and its end, and the state that all connections of a cluster share.

Responses are collected until the end of a turn, when the edge takes them (`SharedState.flush`).

An exception affects only the connection on which it occurs: it is logged once, that connection is closed, and the turn continues.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...protocol.frame import Buffer, RequestHeader, encode_response, encode_response_in_slices
from ...protocol.schema import Message
from ..api.context import Client, Parked
from ..api.gate import Answering, Gate
from ..cluster.broker import Broker
from ..cluster.state import ClusterState
from ..scheduling.turns import Turns
from ..scheduling.waiting import NEXT_TURN
from ..settings.record_limits import RecordLimits

if TYPE_CHECKING:
    from ..topics.partition import Partition, Topic
    from ..wire.record import WireRecord
    from ..wire.recording import Recording

STAGING_BYTES = 256 * 1024

network_log = logging.getLogger("kafka.network.SocketServer")


class SharedState:
    """The state that the connections of a cluster share: queues and clocks, the buffer that receives bytes, the gate, and the record.

    `limits` are those of the record of exchanges. A state that takes the place of a `former` one continues its record.
    """

    def __init__(self, cluster: ClusterState, turns: Turns[Parked], limits: RecordLimits, former: SharedState | None) -> None:
        self.cluster = cluster
        self.turns = turns
        self.timers = turns.timers
        self.clock = turns.clock
        self.now_s = turns.clock()
        """The time of the clock at the beginning of this turn."""
        # All connections share this receive buffer, because received bytes are parsed before another connection receives any.
        self.staging = memoryview(bytearray(STAGING_BYTES))
        self.unflushed: list[Output] = []
        """The connections that have new output or are to be closed."""
        self.gate: Gate | None = None
        """The gate that requests pass through. It is None without any fault or quota, so that requests then cost nothing more."""
        self.write_changes: Callable[[], bool] | None = None
        """Writes what has changed to the data directory, and returns False if it cannot. None without a data directory."""
        self._limits = limits
        self._wall_offset_ms: float = turns.timers.now_ms - turns.clock() * 1000 if former is None else former._wall_offset_ms  # noqa: SLF001  (a former object of this class)
        self._record: WireRecord | None = None if former is None else former._record  # noqa: SLF001  (a former object of this class)
        if self._record is not None:
            self._record.topic_names.topics = cluster.topics_by_id
        cluster.on_event, cluster.topics.on_leader_change = self.tell, self._leader_changed
        cluster.on_topic_deletion = self._topic_deleted

    def advance(self, now_ms: int) -> None:
        """Sets the time to `now_ms`, runs the timers that are due and resumes the requests that they woke."""
        self.timers.advance(now_ms)
        self.run_ready()

    def next_turn(self) -> None:
        """Runs the work that was put off to this turn and resumes the requests that it woke."""
        self.turns.next_turn()
        self.run_ready()

    def run_ready(self) -> None:
        """Resumes the requests that were woken, until none is left. Their responses are written before those of this turn's requests."""
        if not self.turns.woken:
            return
        unflushed, self.unflushed = self.unflushed, []
        while self.turns.woken:
            for parked in self.turns.take_woken():
                parked.connection.resume_parked(parked)
        self.unflushed += unflushed

    def flush(self) -> None:
        """Writes what has changed to the data directory, and calls `on_output` of every connection with new output or that is to be closed.

        Output that follows from a change which cannot be written is discarded with its connection.
        """
        while True:
            if self.write_changes is not None and not self.write_changes():
                self._discard_output()
            if not self.unflushed:
                return
            unflushed, self.unflushed = self.unflushed, []
            for connection in unflushed:
                try:
                    connection.on_output()
                except Exception as error:  # noqa: BLE001  (of any handler)
                    connection.abort(error, "writing its answers")

    def _discard_output(self) -> None:
        unflushed, self.unflushed = self.unflushed, []
        for connection in unflushed:
            connection.discard("the data directory cannot be written")

    # The record

    @property
    def record(self) -> WireRecord | None:
        """The record of exchanges, None if it is switched off."""
        if self._record is None and self._limits.are_positive:
            from ..wire.record import WireRecord

            self._record = WireRecord(self._wall_offset_ms, *self._limits)
            self._record.topic_names.topics = self.cluster.topics_by_id
        return self._record

    def tell(self, kind: str, text: str, node: int | None = None, **fields: str | int) -> None:
        """Adds an event to the record."""
        if (record := self.record) is not None:
            record.tell(kind, (self.timers.now_ms, self.clock()), text, node, None, fields)

    def _leader_changed(self, partition: Partition) -> None:
        if (record := self.record) is not None:
            record.tell_leader((self.timers.now_ms, self.clock()), partition)

    def _topic_deleted(self, topic: Topic) -> None:
        if self._record is not None:
            self._record.topic_names.remember(topic)


class Output:
    """The output of a connection. `on_output` is called at the end of a turn in which there is something to write or to close.

    `recording` writes down what is on the wire (`wire/`). It is None if the record is switched off. `on_abort` is called when the transport
    has to be closed at once because writing failed. `resets` is whether the connection is closed with RST instead of FIN. After FIN comes
    RST if it `leaves_unread` bytes that Kafka would not have read.
    """

    def __init__(
        self,
        core: SharedState,
        broker: Broker,
        client: Client,
        recording: Recording | None,
        on_output: Callable[[], None],
        on_abort: Callable[[], None],
    ) -> None:
        self.core = core
        self.broker = broker
        self.client = client
        self.recording = recording
        self.on_output = on_output
        self._on_abort = on_abort
        self.output: list[Buffer] = []
        self.output_bytes = 0
        self.closing: str | None = None
        """The reason for closing the connection, None while it is open."""
        self.resets = self.leaves_unread = False
        self._flush_is_put_off = False
        self._used_ms = core.timers.now_ms
        self._idle_timer = object()
        if broker.max_idle_ms >= 0:
            core.timers.set(self._idle_timer, broker.max_idle_ms, self._check_idle)

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

    def write_run(self, response: bytes) -> None:
        """Queues a response that is recorded later, with those before and after it in a run. It is empty if there is none to write."""
        if response:
            if not self.output:
                self.core.unflushed.append(self)
            self.output.append(response)
            self.output_bytes += len(response)

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
        self.core.unflushed.append(self)

    # The end

    def close(self, reason: str, level: int = logging.INFO) -> None:
        """Closes the connection once its output is written. A malformed request gets no response, as in Kafka."""
        if self.closing is None:
            network_log.log(level, "[KafkaServer id=%d] closing the connection of %s: %s", self.broker.node_id, self.client, reason)
            self._end(reason)

    def fail(self, error: Exception, doing: str) -> None:
        """Logs a bug with its stack trace and closes the connection once the responses to earlier requests are written."""
        self.log_failure(error, doing)
        if self.closing is None:
            self._end("an internal error")

    def abort(self, error: Exception, doing: str) -> None:
        """Logs a bug with its stack trace and closes the connection at once, without writing its output."""
        self.log_failure(error, doing)
        self.discard("an internal error")

    def discard(self, reason: str) -> None:
        """Closes the connection at once, without writing its output."""
        self.lost(reason)
        self.output, self.output_bytes = [], 0
        self._on_abort()

    def log_failure(self, error: Exception, doing: str) -> None:
        """Logs a bug with its stack trace."""
        text = "[KafkaServer id=%d] closing the connection of %s: an internal error while %s"
        network_log.error(text, self.broker.node_id, self.client, doing, exc_info=error)

    def _end(self, reason: str) -> None:
        self.lost(reason)
        self.ask_for_flush()

    def lost(self, reason: str, *, by_client: bool = False) -> None:
        """Releases the memory, the timer and the waiting request of a closed connection. Raises no exception."""
        if self.closing is None:
            self.closing = reason
            if self.recording is not None:
                self.recording.ended(reason, by_client=by_client, resets=self.resets or self.leaves_unread)
        on_close, self.client.on_close = self.client.on_close, {}
        for release in on_close.values():
            release()
        self.core.timers.cancel(self._idle_timer)

    def _check_idle(self) -> None:
        """Closes the connection if it has been idle for `connections.max.idle.ms`.

        A request does not move the timer, because that would be expensive: it only stores the time in `_used_ms`, and a timer that fires
        too early is set again.
        """
        timers, limit_ms = self.core.timers, self.broker.max_idle_ms
        idle_ms = timers.now_ms - self._used_ms
        if idle_ms < limit_ms:
            timers.set(self._idle_timer, limit_ms - idle_ms, self._check_idle)
        else:
            self.close(f"idle for {idle_ms} ms, connections.max.idle.ms is {limit_ms}")

    def touch(self) -> None:
        """Restarts the time after which the connection is closed as idle."""
        self._used_ms = self.core.timers.now_ms
