"""Time and chance during a run, what is refused, and what is left of both afterwards."""

from __future__ import annotations

import gc
import os
import random
import secrets
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from time import monotonic as kept_clock
from typing import Any

import pytest

from odradek import Simulation, SimulationError

from .programs import run


async def _chance(sim: Simulation) -> list[object]:
    numbers = [random.random(), random.Random().random(), uuid.uuid4(), uuid.uuid1(), os.urandom(8), secrets.token_hex(4)]
    return [*numbers, kept_clock(), time.time_ns()]


def test_chance_follows_from_the_seed() -> None:
    first, again, other = run(_chance, 1), run(_chance, 1), run(_chance, 2)
    assert first == again
    assert not [pair for pair in zip(first[:6], other[:6], strict=True) if pair[0] == pair[1]]
    assert first[6] == pytest.approx(0, abs=0.1)


def test_environment_is_as_before_after_a_run() -> None:
    names = [
        (time, "time"),
        (time, "sleep"),
        (os, "urandom"),
        (threading.Thread, "start"),
        (socket.socket, "connect"),
        (random.Random, "seed"),
    ]
    before, state = [getattr(owner, name) for owner, name in names], random.getstate()
    assert gc.isenabled()
    run(_chance)
    assert [getattr(owner, name) for owner, name in names] == before
    assert random.getstate() == state
    assert "connect" not in vars(socket.socket)
    assert gc.isenabled()
    assert kept_clock is time.monotonic


def _connects() -> None:
    with socket.socket() as connection:
        connection.connect(("192.0.2.1", 9092))


def _starts_a_producer() -> None:
    from confluent_kafka import Producer

    Producer({"bootstrap.servers": "kafka:9092"})


REFUSED: dict[str, Callable[[], Any]] = {
    "time.sleep": lambda: time.sleep(1),
    "threading.Thread.start": lambda: threading.Thread(target=print).start(),
    "socket.connect": _connects,
    "socket.getaddrinfo": lambda: socket.getaddrinfo("shop", 80),
    "subprocess.Popen": lambda: subprocess.Popen(["true"]),
    "os.system": lambda: os.system("true"),
    "(import )?confluent_kafka": _starts_a_producer,
}


@pytest.mark.parametrize("call", REFUSED)
def test_call_that_leaves_the_simulation_is_refused(call: str) -> None:
    async def main(sim: Simulation) -> None:
        with suppress(Exception):  # a program that catches the error is ended all the same
            REFUSED[call]()

    with pytest.raises(SimulationError, match=rf"^{call}.*: .*use |^{call}.*: .*replace it "):
        run(main)


def test_confluent_kafka_that_was_imported_before_is_refused() -> None:
    pytest.importorskip("confluent_kafka")

    async def main(sim: Simulation) -> None:
        _starts_a_producer()

    with pytest.raises(SimulationError, match=r"^confluent_kafka.Producer: librdkafka has threads and sockets of its own; test it against"):
        run(main)
    assert sys.modules["confluent_kafka"].Producer.__module__ != "odradek.simulation.environment"


def test_other_threads_keep_their_time() -> None:
    times: list[float] = []
    asked, answered = threading.Event(), threading.Event()

    def other() -> None:
        asked.wait()
        times.append(time.time())
        answered.set()

    thread = threading.Thread(target=other)
    thread.start()

    async def main(sim: Simulation) -> float:
        asked.set()
        answered.wait()
        return time.time()

    inside_s = run(main)
    thread.join()
    assert abs(times[0] - inside_s) > 1000
