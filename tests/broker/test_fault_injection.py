"""A broker process with injected errors under load: other clients are not disturbed, each error is one log entry, SIGTERM works."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from odradek.broker.network.driver import uvloop
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.leave_group import LEAVE_GROUP, LeaveGroupRequest
from odradek.protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.schema import Api, Message
from tests.broker.faulty_broker import CANARIES, PLACES
from tests.broker.harness import a_batch, fetch_request, produce_request
from tests.broker.network.client import ask, connect, read_exactly

ROOT = Path(__file__).parents[2]
LOOPS = ["asyncio", *(["uvloop"] if uvloop else [])]
VICTIMS = 6
AT_LEAST = 5
"""How often each injected error must occur before the test ends."""

REQUESTS: list[tuple[Api, int, Message]] = [
    (HEARTBEAT, 0, HeartbeatRequest(group_id="g", generation_id=1, member_id="m")),
    (LEAVE_GROUP, 0, LeaveGroupRequest(group_id="g", member_id="m")),
    (LIST_GROUPS, 0, ListGroupsRequest()),
    (FETCH, 11, fetch_request("t", max_wait_ms=1000)),
    (PRODUCE, 9, produce_request("t", a_batch(b"victim"))),
    (API_VERSIONS, 3, ApiVersionsRequest(client_software_name="test", client_software_version="1")),
]


class Faulty:
    """The broker process and its log."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.address = process.stdout.readline().strip()
        self.lines: list[str] = []
        self.failures: Counter[str] = Counter()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip())
            if match := re.search(r"^ +\S*Injected: injected into (\w+)$", line):
                self.failures[match[1]] += 1

    @property
    def has_failed_enough(self) -> bool:
        return all(self.failures[place] >= AT_LEAST for place in PLACES)

    def terminate(self) -> int:
        """Sends SIGTERM and returns the exit code."""
        self.process.terminate()
        return self.ended()

    def ended(self) -> int:
        """Returns the exit code once the log has been read to its end."""
        code = self.process.wait(10)
        self._reader.join()
        return code


@contextmanager
def faulty(mode: str, loop: str) -> Iterator[Faulty]:
    environment = os.environ | {"PYTHONPATH": f"{ROOT / '.dev'}{os.pathsep}{ROOT}", "ODRADEK_LOOP": loop}
    command = [sys.executable, "-m", "tests.broker.faulty_broker", mode]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        broker = Faulty(process)
        try:
            yield broker
        finally:
            process.kill()
            broker.ended()


def torment(broker: Faulty, number: int, stop: threading.Event) -> None:
    """Connects repeatedly, sends one request of each kind in turn, and accepts any result."""
    while not stop.is_set():
        api, version, request = REQUESTS[number % len(REQUESTS)]
        number += 1
        with contextlib.suppress(OSError, AssertionError), connect(broker.address) as victim:
            victim.sendall(b"".join(encode_request(api, version, 1, "victim", request)) * 3)
            read_exactly(victim, 4)


def append_and_check(canary: socket.socket, last_offset: int) -> int:
    """Produces a record, fetches it, and returns its offset."""
    answer = ask(canary, PRODUCE, 9, produce_request("t", a_batch(b"canary"))).responses[0].partition_responses[0]
    assert answer.error_code == 0
    assert answer.base_offset > last_offset
    fetched = ask(canary, FETCH, 11, fetch_request("t", answer.base_offset)).responses[0].partitions[0]
    assert b"canary" in bytes(fetched.records)
    return int(answer.base_offset)


@pytest.mark.parametrize("loop", LOOPS)
def test_injected_failures_do_not_disturb_other_clients(loop: str) -> None:
    stop = threading.Event()
    with faulty("raise", loop) as broker, ExitStack() as stack:
        canaries = {stack.enter_context(connect(broker.address)): -1 for _ in range(CANARIES)}
        for canary in canaries:
            canaries[canary] = append_and_check(canary, -1)
        victims = [threading.Thread(target=torment, args=(broker, number, stop)) for number in range(VICTIMS)]
        for victim in victims:
            victim.start()
        try:
            while not broker.has_failed_enough:
                for canary, last_offset in canaries.items():
                    canaries[canary] = append_and_check(canary, last_offset)
        finally:
            stop.set()
            for victim in victims:
                victim.join()
        for canary, last_offset in canaries.items():
            append_and_check(canary, last_offset)
        assert broker.terminate() == 0
    text = "\n".join(broker.lines)
    assert set(broker.failures) == set(PLACES)
    assert text.count("Traceback (most recent call last)") == broker.failures.total()
    assert "(asyncio)" not in text  # asyncio has logged no error
    assert "connection limit reached" not in text  # the connections that failed no longer count
    assert broker.lines[-1].endswith("shut down completed (kafka.server.KafkaServer)")


@pytest.mark.parametrize("loop", LOOPS)
def test_second_signal_ends_a_process_with_a_blocked_loop(loop: str) -> None:
    with faulty("spin", loop) as broker, connect(broker.address) as client:
        api, version, request = REQUESTS[0]
        client.sendall(b"".join(encode_request(api, version, 1, "test", request)))
        while broker.process.poll() is None:
            broker.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                broker.process.wait(0.1)
        assert broker.ended() == 128 + signal.SIGTERM
