"""Sends generated frames over many connections to a broker process, with a canary beside them."""

from __future__ import annotations

import selectors
import socket
import time
from collections import deque
from random import Random
from struct import pack
from threading import Event

from .answers import Ledger, WrongAnswer
from .batches import Batches
from .broker_process import BrokerProcess
from .canary import TOPIC, Address, CanaryProcess
from .facts import TOPICS, Facts
from .frames import FrameGenerator
from .rounds import QUICK

SETTINGS = QUICK | {
    "log.retention.bytes": "1000000",
    "log.segment.bytes": "1048576",
    "log.retention.check.interval.ms": "1000",
    "log.initial.task.delay.ms": "1000",
}
EXCLUDED_APIS = ("AlterConfigs", "IncrementalAlterConfigs", "AlterClientQuotas", "UnregisterBroker")
"""APIs by which a client can legitimately remove state that the canary needs, or throttle the canary."""
MAX_RSS_MIB = 512
SILENCE_S = 0.3
"""A connection whose request waits longer than this is replaced by a new one."""
KEPT_FRAMES = 20
UNDISTURBED_S = 2.0


class FuzzConnection:
    """One connection, which sends generated frames and checks the answers."""

    def __init__(self, address: Address, generator: FrameGenerator, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self.generator, self.ledger = generator, Ledger()
        self.recent: deque[str] = deque(maxlen=KEPT_FRAMES)
        self._unsent, self._received = bytearray(), bytearray()
        self.active_s = time.monotonic()
        self.socket = socket.create_connection(address, 10)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))  # avoids sockets in TIME_WAIT
        selector.register(self.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, self)

    def serve(self, events: int, facts: Facts) -> int:
        """Reads answers, sends the next frames and returns their number. Raises OSError when the connection ends, and WrongAnswer."""
        if events & selectors.EVENT_READ:
            self._read(facts)
        frames = 0
        if not self._unsent and not self.ledger.unanswered:
            data, frames = self.generator.next_bytes()
            self.active_s = time.monotonic()
            self.recent.append(data.hex())
            self.ledger.sent(data)
            self._unsent += data
        if self._unsent:
            self._send()
        wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if self._unsent or not self.ledger.unanswered else 0)
        if wanted != self._selector.get_key(self.socket).events:
            self._selector.modify(self.socket, wanted, self)
        return frames

    def _send(self) -> None:
        try:
            del self._unsent[: self.socket.send(self._unsent)]
        except BlockingIOError:
            return

    def _read(self, facts: Facts) -> None:
        data = self.socket.recv(1 << 18)
        if not data:
            raise ConnectionResetError
        self.active_s = time.monotonic()
        self._received += data
        for answered in self.ledger.received(self._received):
            known = self.generator.sources.pop(answered.correlation_id, None)
            if known is not None:
                facts.learn(answered.api, known, answered.answer)

    def close(self) -> None:
        self._selector.unregister(self.socket)
        self.socket.close()


class ConnectionPool:
    """All connections to one cluster. `send` raises WrongAnswer with the last frames of the connection concerned."""

    def __init__(self, addresses: list[Address], seed: int, connections: int) -> None:
        self._addresses, self._random, self._batches = addresses, Random(seed), Batches(seed)
        self._facts = Facts(excluded=TOPIC)
        self._selector = selectors.DefaultSelector()
        self.ended = 0
        self._connections = {self._connect(index): index for index in range(connections)}

    def _connect(self, index: int) -> FuzzConnection:
        generator = FrameGenerator(self._random, self._facts, self._batches, EXCLUDED_APIS)
        return FuzzConnection(self._addresses[index % len(self._addresses)], generator, self._selector)

    def send(self, frames: int) -> None:
        """Sends this many frames."""
        while frames > 0:
            for key, events in self._selector.select(SILENCE_S):
                frames -= self._serve(key.data, events)
            self._replace_silent()

    def _serve(self, connection: FuzzConnection, events: int) -> int:
        try:
            return connection.serve(events, self._facts)
        except WrongAnswer as error:
            raise WrongAnswer(f"{error}\nafter these frames of its connection:\n" + "\n".join(connection.recent)) from error
        except OSError:
            self._replace(connection)
            return 0

    def _replace_silent(self) -> None:
        now_s = time.monotonic()
        for connection in [connection for connection in self._connections if now_s - connection.active_s > SILENCE_S]:
            self._replace(connection)

    def _replace(self, connection: FuzzConnection) -> None:
        connection.close()
        self.ended += 1
        index = self._connections.pop(connection)
        self._connections[self._connect(index)] = index

    def close(self) -> None:
        for connection in self._connections:
            connection.close()
        self._selector.close()


def over_sockets(seed: int, frames: int, connections: int) -> int:
    """Sends frames over sockets, prints a report and returns the number of violations."""
    violations = []
    with BrokerProcess(SETTINGS, topics=[f"{name}:3:2" for name in TOPICS[:3]]) as broker:
        canary = CanaryProcess(broker.addresses)
        Event().wait(UNDISTURBED_S)
        canary.announce()
        pool = ConnectionPool(broker.addresses, seed, connections)
        started = time.monotonic()
        try:
            pool.send(frames)
        except (WrongAnswer, OSError) as error:
            violations.append(f"{type(error).__name__}: {error}")
        took_s = time.monotonic() - started
        report = canary.stop()
        pool.close()
        rss_mib = broker.memory_kib("VmHWM") // 1024 if broker.process.poll() is None else 0
        code = broker.stop()
        violations += [f"the broker logged: {failure}" for failure in broker.logged_errors()]
    if report.failure:
        violations.append(f"the canary: {report.failure}")
    if code != 0:
        violations.append(f"SIGTERM: the broker ended with {code}")
    if rss_mib > MAX_RSS_MIB:
        violations.append(f"memory: the broker took {rss_mib} MiB, more than {MAX_RSS_MIB}")
    print(f"over sockets: {frames} frames, {frames / took_s:.0f} a second, {connections} connections, {pool.ended} ended; seed {seed}")
    print(
        f"the canary: {report.records} records; {_times(report.disturbed_s)}; before {_times(report.undisturbed_s)}; broker {rss_mib} MiB"
    )
    print(*violations, sep="\n")
    return len(violations)


def _times(round_trips_s: list[float]) -> str:
    times_ms = sorted(1000 * each for each in round_trips_s) or [0.0]
    return f"p50 {times_ms[len(times_ms) // 2]:.1f} ms, p99 {times_ms[len(times_ms) * 99 // 100]:.1f} ms, max {times_ms[-1]:.1f} ms"
