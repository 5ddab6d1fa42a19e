"""Generated frames over many connections to a served cluster, with a canary beside them."""

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
from .canary import TOPIC, Address, Cage
from .facts import TOPICS, Facts
from .frames import Talker
from .rounds import QUICK
from .serving import Served

SETTINGS = QUICK | {
    "log.retention.bytes": "1000000",
    "log.segment.bytes": "1048576",
    "log.retention.check.interval.ms": "1000",
    "log.initial.task.delay.ms": "1000",
}
SPARED_APIS = ("AlterConfigs", "IncrementalAlterConfigs", "UnregisterBroker")
"""With them a client may rightly end what the canary needs."""
MOST_RSS_MIB = 512
SILENCE_S = 0.3
"""A request that has no answer after this long waits for something: the client leaves, and another comes."""
KEPT_FRAMES = 20
ALONE_S = 2.0


class Line:
    """One connection: what it sends next, and whether its answers are right."""

    def __init__(self, address: Address, talker: Talker, selector: selectors.BaseSelector) -> None:
        self._selector = selector
        self.talker, self.ledger = talker, Ledger()
        self.recent: deque[str] = deque(maxlen=KEPT_FRAMES)
        self._unsent, self._received = bytearray(), bytearray()
        self.heard_s = time.monotonic()
        self.socket = socket.create_connection(address, 10)
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", 1, 0))  # leaves nothing in TIME_WAIT
        selector.register(self.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, self)

    def serve(self, events: int, facts: Facts) -> int:
        """Reads answers and sends what comes next; the number of frames begun. Raises OSError when the connection ends, WrongAnswer."""
        if events & selectors.EVENT_READ:
            self._read(facts)
        frames = 0
        if not self._unsent and not self.ledger.unanswered:
            data, frames = self.talker.next_bytes()
            self.heard_s = time.monotonic()
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
        self.heard_s = time.monotonic()
        self._received += data
        for answered in self.ledger.received(self._received):
            known = self.talker.asked.pop(answered.correlation_id, None)
            if known is not None:
                facts.learn(answered.api, known, answered.answer)

    def close(self) -> None:
        self._selector.unregister(self.socket)
        self.socket.close()


class Crowd:
    """All lines to one cluster. Raises WrongAnswer with the frames that came before."""

    def __init__(self, addresses: list[Address], seed: int, connections: int) -> None:
        self._addresses, self._random, self._batches = addresses, Random(seed), Batches(seed)
        self._facts = Facts(spared=TOPIC)
        self._selector = selectors.DefaultSelector()
        self.ended = 0
        self._lines = {self._line(index): index for index in range(connections)}

    def _line(self, index: int) -> Line:
        talker = Talker(self._random, self._facts, self._batches, SPARED_APIS)
        return Line(self._addresses[index % len(self._addresses)], talker, self._selector)

    def send(self, frames: int) -> None:
        """Until so many frames are sent."""
        while frames > 0:
            for key, events in self._selector.select(SILENCE_S):
                frames -= self._serve(key.data, events)
            self._replace_silent()

    def _serve(self, line: Line, events: int) -> int:
        try:
            return line.serve(events, self._facts)
        except WrongAnswer as error:
            raise WrongAnswer(f"{error}\nafter these frames of its connection:\n" + "\n".join(line.recent)) from error
        except OSError:
            self._replace(line)
            return 0

    def _replace_silent(self) -> None:
        now_s = time.monotonic()
        for line in [line for line in self._lines if now_s - line.heard_s > SILENCE_S]:
            self._replace(line)

    def _replace(self, line: Line) -> None:
        line.close()
        self.ended += 1
        index = self._lines.pop(line)
        self._lines[self._line(index)] = index

    def close(self) -> None:
        for line in self._lines:
            line.close()
        self._selector.close()


def over_sockets(seed: int, frames: int, connections: int) -> int:
    """Prints what was seen and returns the number of violations."""
    violations = []
    with Served(SETTINGS, topics=[f"{name}:3:2" for name in TOPICS[:3]]) as served:
        canary = Cage(served.addresses)
        Event().wait(ALONE_S)
        canary.announce()
        crowd = Crowd(served.addresses, seed, connections)
        started = time.monotonic()
        try:
            crowd.send(frames)
        except (WrongAnswer, OSError) as error:
            violations.append(f"{type(error).__name__}: {error}")
        took_s = time.monotonic() - started
        sung = canary.stop()
        crowd.close()
        rss_mib = served.memory_kib("VmHWM") // 1024 if served.process.poll() is None else 0
        code = served.stop()
        violations += [f"the broker logged: {complaint}" for complaint in served.complaints()]
    if sung.complaint:
        violations.append(f"the canary: {sung.complaint}")
    if code != 0:
        violations.append(f"SIGTERM: the broker ended with {code}")
    if rss_mib > MOST_RSS_MIB:
        violations.append(f"memory: the broker took {rss_mib} MiB, more than {MOST_RSS_MIB}")
    print(f"over sockets: {frames} frames, {frames / took_s:.0f} a second, {connections} connections, {crowd.ended} ended; seed {seed}")
    print(f"the canary: {sung.records} records; {_times(sung.disturbed_s)}; alone {_times(sung.alone_s)}; broker {rss_mib} MiB")
    print(*violations, sep="\n")
    return len(violations)


def _times(round_trips_s: list[float]) -> str:
    times_ms = sorted(1000 * each for each in round_trips_s) or [0.0]
    return f"p50 {times_ms[len(times_ms) // 2]:.1f} ms, p99 {times_ms[len(times_ms) * 99 // 100]:.1f} ms, max {times_ms[-1]:.1f} ms"
