"""The steps of a round as plain data, and a player that executes them and checks the broker after each.

A round consists of steps only, so it can be repeated: to measure again, or with fewer steps.
"""

from __future__ import annotations

import gc
import logging
import re
import time
import traceback
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from odradek.broker.snapshots.cluster import State, write_cluster
from odradek.protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT
from odradek.protocol.messages.list_transactions import LIST_TRANSACTIONS
from tests.broker.harness import Client, NotRead, World
from tests.state import changes, everything

from .answers import DecodedAnswer, Ledger, Request, WrongAnswer
from .facts import TOPICS

ROOT = Path(__file__).parents[2]
PARTITIONS = 3
MAX_CPU_MS = 50
CPU_MS_PER_BYTE = 0.006
"""Additional CPU time for large frames: an element of three bytes may take twenty microseconds."""

MAX_BYTES_BEYOND_FRAMES = 65536
BYTES_PER_ANSWERED_BYTE = 16
SMALL_FRAME_BYTES, BYTES_PER_LARGE_FRAME_BYTE = 512, 64
"""Additional memory for the objects of large requests and answers. A small frame can claim any length, but contains few objects."""

WITH_PATTERNS = {LIST_TRANSACTIONS.key, CONSUMER_GROUP_HEARTBEAT.key}
MAX_BYTES_OF_A_PATTERN = 4 * 65536
"""A compiled regular expression takes some hundred bytes for each character and repetition, whose number is limited."""


class Feed(NamedTuple):
    """A client sends bytes, in pieces of the size `piece`, or at once if that is 0."""

    client: int
    data: bytes
    piece: int = 0


class Advance(NamedTuple):
    """Lets time pass."""

    milliseconds: int


class StopNode(NamedTuple):
    """Stops a node and ends the connections to it."""

    node_id: int


class StartNode(NamedTuple):
    """Starts a stopped node."""

    node_id: int


class Disconnect(NamedTuple):
    """Disconnects a client, which is replaced by a new one."""

    client: int


class TakeSnapshot(NamedTuple):
    """Keeps the state of the cluster in place of the state that was kept before."""


class Restore(NamedTuple):
    """Returns to the kept state, which must be the same as before in all attributes. All clients are replaced by new ones."""


Step = Feed | Advance | StopNode | StartNode | Disconnect | TakeSnapshot | Restore


class Violation(AssertionError):
    """A rule that the broker has violated. Violations with equal signatures have the same cause."""

    def __init__(self, signature: str, details: str) -> None:
        super().__init__(f"{signature}\n{details}")
        self.signature = signature


class Slow(Violation):
    """A frame took more CPU time than allowed."""


class LoggedErrors(logging.Handler):
    """Stores the first stack trace that the broker logs, and formats all other messages as a real handler would."""

    def __init__(self) -> None:
        super().__init__()
        self.found: tuple[BaseException, str] | None = None

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None and self.found is None:
            self.found = (record.exc_info[1], message)

    def handleError(self, record: logging.LogRecord) -> None:
        raise


@contextmanager
def captured_errors(level: int = logging.WARNING) -> Iterator[LoggedErrors]:
    """Passes everything that the broker logs to the LoggedErrors."""
    log, logged_errors = logging.getLogger("kafka"), LoggedErrors()
    before = log.level, log.propagate
    log.addHandler(logged_errors)
    log.setLevel(level)
    log.propagate = False
    try:
        yield logged_errors
    finally:
        log.removeHandler(logged_errors)
        log.level, log.propagate = before


class Setting(NamedTuple):
    """The cluster and clients of a round."""

    nodes: int
    clients: int
    settings: dict[str, str]


class Player:
    """Executes steps on a cluster and its clients. Unless `timed` is set, a frame may take any time."""

    def __init__(self, setting: Setting, logged_errors: LoggedErrors, *, memory: bool = False, timed: bool = True) -> None:
        self.world = World(nodes=setting.nodes, settings=setting.settings)
        for topic in TOPICS[:3]:
            self.world.cluster.topics.create(topic, PARTITIONS, min(2, setting.nodes))
        self.logged_errors = logged_errors
        self.running = set(range(1, setting.nodes + 1))
        self.slowest_ms = 0.0
        self.largest_bytes_beyond_frame = 0
        self._memory, self._timed = memory, timed
        self._kept = self._state()
        self.clients: list[Client] = []
        self.ledgers: list[Ledger] = []
        for index in range(setting.clients):
            self.clients.append(self._client(index))
            self.ledgers.append(Ledger())

    def _state(self) -> tuple[State, dict[str, Any]]:
        return write_cluster(self.world.cluster), everything(self.world.cluster)

    def _client(self, index: int) -> Client:
        node_ids = sorted(self.running)
        return self.world.client(node_ids[index % len(node_ids)])

    def play(self, step: Step) -> list[tuple[int, DecodedAnswer]]:
        """Executes a step and returns the answers with the indexes of their clients. Raises Violation."""
        try:
            match step:
                case Feed():
                    self._feed(step)
                case Advance(milliseconds):
                    self.world.advance(milliseconds)
                case StopNode(node_id):
                    self._stop(node_id)
                case StartNode(node_id):
                    self.running.add(node_id)
                    self.world.cluster.nodes.start(node_id)
                    self.world.advance(0)
                case Disconnect(index):
                    self.clients[index].connection.lost("the client has disconnected")
                case TakeSnapshot():
                    self._kept = self._state()
                case Restore():
                    self._restore()
            if self.logged_errors.found is not None:
                (error, message), self.logged_errors.found = self.logged_errors.found, None
                request = re.search(r"(\w+) v\d+", message)
                raise _violation(f"logged {request[1] if request else message.split()[0]}", error, message[:400])
            return self._answers()
        except WrongAnswer as error:
            raise Violation(f"wrong answer: {str(error).split(':')[0]}", str(error)) from error
        except Violation:
            raise
        except Exception as error:
            raise _violation("escaped", error, repr(error)) from error

    def _feed(self, step: Feed) -> None:
        client = self.clients[step.client]
        ledger = self.ledgers[step.client]
        ledger.sent(step.data)
        requests = list(ledger.open)
        size = step.piece or len(step.data) or 1
        pieces = [step.data[at : at + size] for at in range(0, len(step.data), size)]
        if self._memory:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
        started = time.thread_time()
        try:
            for piece in pieces:
                client.feed(piece)
        except NotRead:
            client.connection.lost("the client does not wait until the broker reads again")
        took_ms = (time.thread_time() - started) * 1000
        if self._memory:
            self._check_memory(step, requests, before)
        self.slowest_ms = max(self.slowest_ms, took_ms)
        if self._timed and took_ms > MAX_CPU_MS + CPU_MS_PER_BYTE * len(step.data):
            raise Slow("slow", f"{took_ms:.0f} ms for {len(step.data)} bytes")

    def _check_memory(self, step: Feed, requests: list[Request], before: int) -> None:
        """Checks the memory that was used temporarily: at most twice the frames, 64 KiB, and the objects of requests and answers."""
        after, peak = tracemalloc.get_traced_memory()
        size, transient = len(step.data), peak - max(before, after)
        answered = sum(len(client.sent) for client in self.clients)
        keys = {key for key, _, _ in requests}
        most = MAX_BYTES_OF_A_PATTERN if keys & WITH_PATTERNS else MAX_BYTES_BEYOND_FRAMES
        objects = BYTES_PER_ANSWERED_BYTE * answered + BYTES_PER_LARGE_FRAME_BYTE * max(0, size - SMALL_FRAME_BYTES)
        if most == MAX_BYTES_BEYOND_FRAMES:
            self.largest_bytes_beyond_frame = max(self.largest_bytes_beyond_frame, transient - 2 * size - objects)
        if transient > 2 * size + objects + most:
            raise Violation("memory", f"{transient} bytes, and {after - before} kept, for {size} bytes and {answered} bytes of answers")

    def _stop(self, node_id: int) -> None:
        self.running.discard(node_id)
        for client in self.clients:
            if client.connection.broker.node_id == node_id:
                client.connection.lost("the node is stopped")
        self.world.cluster.nodes.stop(node_id)
        self.world.advance(0)

    def _restore(self) -> None:
        state, expected = self._kept
        for client in self.clients:
            client.connection.lost("the state is restored")
        self.world.restore(state)
        if different := list(changes(expected, everything(self.world.cluster))):
            raise Violation(f"restored another state: {different[0].partition(':')[0]}", "\n".join(different[:20]))
        self.running = {node_id for node_id, broker in self.world.cluster.brokers.items() if broker.running}

    def _answers(self) -> list[tuple[int, DecodedAnswer]]:
        answers = []
        for index, client in enumerate(self.clients):
            ledger = self.ledgers[index]
            if client.sent:
                answers += [(index, answer) for answer in ledger.received(client.sent)]
            if client.closed is not None:
                self.clients[index], self.ledgers[index] = self._client(index), Ledger()
            elif ledger.unanswered and not client.connection.busy:
                raise Violation("no answer", f"client {index}: {ledger.open}")
        return answers

    def finish(self) -> None:
        """Disconnects all clients; afterwards all request memory must be released. Raises Violation."""
        for index in range(len(self.clients)):
            self.play(Disconnect(index))
        for broker in self.world.cluster.brokers.values():
            if broker.request_memory.used_bytes:
                raise Violation("request memory", f"{broker}: {broker.request_memory.used_bytes} bytes are not released")


def _violation(kind: str, error: BaseException, message: str) -> Violation:
    frames = [frame for frame in traceback.extract_tb(_traceback(error)) if "tests" not in Path(frame.filename).parts]
    place = f"{Path(frames[-1].filename).name} {frames[-1].name}" if frames else "?"
    text = "".join(traceback.format_exception(error))
    return Violation(f"{kind}: {type(error).__name__} in {place}", f"{message}\n{text}")


def _traceback(error: BaseException) -> TracebackType | None:
    return error.__traceback__


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Disables garbage collections, because they would be measured as the cost of a frame."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
