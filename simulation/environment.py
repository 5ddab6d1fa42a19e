"""Replaces time, chance, and the calls that would leave the simulation, while a run lasts.

Functions are replaced in their module and wherever a module has imported them by name. Modules that are imported during a run may keep a
replacement; without a run it behaves like the original.
"""

from __future__ import annotations

import gc
import os
import random
import socket
import subprocess
import sys
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from . import dates
from .dates import STAND_INS, picklable_dates
from .errors import SimulationError
from .watchdog import watch_for_endless_steps

if TYPE_CHECKING:
    from .loop import SimulatedLoop

EPOCH_S = 1_767_225_600.0
"""The time at which each run begins: 2026-01-01 00:00:00 UTC."""
NANOSECONDS = 1_000_000_000


class _Running(NamedTuple):
    """The run that is going on in a thread, with the chance from which `os.urandom` draws."""

    loop: SimulatedLoop
    bytes: random.Random
    thread: int


_runs: list[_Running] = []


def _run() -> _Running | None:
    """Returns the run of this thread. Other threads of the process keep their time."""
    return _runs[-1] if _runs and _runs[-1].thread == threading.get_ident() else None


def _seconds(original: Callable[[], float], epoch_s: float = 0.0) -> Callable[[], float]:
    def clock() -> float:
        run = _run()
        return original() if run is None else epoch_s + run.loop.now_s

    return clock


def _nanoseconds(original: Callable[[], int], epoch_s: float = 0.0) -> Callable[[], int]:
    def clock() -> int:
        run = _run()
        return original() if run is None else int(epoch_s) * NANOSECONDS + int(run.loop.now_s * NANOSECONDS)

    return clock


def _of_now(original: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function of `time` that takes seconds, which are the present time of the run if they are left out."""

    def convert(seconds: float | None = None, /) -> Any:
        return original(time.time() if seconds is None else seconds)

    return convert


def _format_time(format: str, at: Any = None, /) -> str:  # noqa: A002  (its name in `time`)
    return _strftime(format, time.localtime() if at is None else at)


_strftime = time.strftime
_urandom = os.urandom


def _seeded_bytes(size: int, /) -> bytes:
    run = _run()
    return _urandom(size) if run is None else run.bytes.randbytes(size)


def _seeded_uuid1(node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
    run = _run()
    return _uuid1(node, clock_seq) if run is None or node is not None else uuid.UUID(int=run.bytes.getrandbits(128), version=1)


_uuid1 = uuid.uuid1
_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    time.time: _seconds(time.time, EPOCH_S),
    time.time_ns: _nanoseconds(time.time_ns, EPOCH_S),
    time.monotonic: _seconds(time.monotonic),
    time.monotonic_ns: _nanoseconds(time.monotonic_ns),
    time.perf_counter: _seconds(time.perf_counter),
    time.perf_counter_ns: _nanoseconds(time.perf_counter_ns),
    **{function: _of_now(function) for function in (time.gmtime, time.localtime, time.ctime)},
    time.strftime: _format_time,
    **STAND_INS,
    os.urandom: _seeded_bytes,
    uuid.uuid1: _seeded_uuid1,
}
"""The functions of time and chance, with what takes their place."""


def _refusing(original: Callable[..., Any], call: str, advice: str) -> Callable[..., Any]:
    """Returns a function that ends the run. Outside of a run it calls the original."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        run = _run()
        return original(*args, **kwargs) if run is None else _refuse(run, call, advice)

    return refuse


def _refuse(run: _Running, call: str, advice: str) -> NoReturn:
    """Ends a run with an error that names a call, and raises it."""
    error = SimulationError(f"{call}: {advice}")
    run.loop.fail(error)
    raise error


class _LibrdkafkaFinder:
    """Refuses to import confluent-kafka during a run, because its classes cannot be replaced any more."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        run = _run()
        if run is not None and fullname == "confluent_kafka":
            _refuse(run, "import confluent_kafka", _LIBRDKAFKA)


_SOCKETS = "a simulation has no sockets, because what comes from another host cannot be repeated; use asyncio.open_connection, in memory"
_THREADS = "a simulation has one thread; use `await asyncio.to_thread(...)`, which runs the function at once, or a task"
_PROCESSES = "a simulation starts no process; replace it by a coroutine of the test"
_LIBRDKAFKA = "librdkafka has threads and sockets of its own; test it against odradek.Cluster, or use aiokafka in the simulation"
_METHODS: tuple[tuple[Any, str, str, str], ...] = (
    (threading.Thread, "start", "threading.Thread.start", _THREADS),
    *((socket.socket, name, f"socket.{name}", _SOCKETS) for name in ("connect", "connect_ex", "bind", "listen", "sendto")),
    (subprocess.Popen, "__init__", "subprocess.Popen", _PROCESSES),
)
_MODULE_FUNCTIONS: tuple[tuple[Any, str, str, str], ...] = (
    (time, "sleep", "time.sleep", "it would stop the whole program; use `await asyncio.sleep(...)`"),
    (os, "system", "os.system", _PROCESSES),
    *((os, name, f"os.{name}", _PROCESSES) for name in ("fork", "posix_spawn", "posix_spawnp") if hasattr(os, name)),
    (socket, "getaddrinfo", "socket.getaddrinfo", "use `await loop.getaddrinfo(...)`, which knows the hosts of the simulation"),
)
_LIBRDKAFKA_CLASSES = ("Producer", "Consumer", "SerializingProducer", "DeserializingConsumer")
for _module, _name, _call, _advice in _MODULE_FUNCTIONS:
    _original = getattr(_module, _name)
    _FUNCTIONS[_original] = _refusing(_original, _call, _advice)


_INHERITED = object()


class _Replacements:
    """Replaces attributes, and puts them back. A class inherits a method again that it had not replaced itself."""

    def __init__(self) -> None:
        self._kept: list[tuple[Any, str, Any]] = []

    def put(self, owner: Any, name: str, value: Any) -> None:
        self._kept.append((owner, name, vars(owner).get(name, _INHERITED)))
        setattr(owner, name, value)

    def undo(self) -> None:
        for owner, name, value in reversed(self._kept):
            if value is _INHERITED:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


_places: dict[str, Any] = {"modules": 0, "found": []}


def _uses() -> list[tuple[Any, str, Any]]:
    """Returns the modules that have one of the functions, under which name, and the function. Modules are searched once."""
    if _places["modules"] != len(sys.modules):
        by_id = {id(function): function for function in (*_FUNCTIONS, *_librdkafka())}
        skipped = {__name__, dates.__name__, "random"}
        modules = [module for name, module in list(sys.modules.items()) if name not in skipped and hasattr(module, "__dict__")]
        _places["found"] = [
            (module, name, by_id[id(value)]) for module in modules for name, value in list(vars(module).items()) if id(value) in by_id
        ]
        _places["modules"] = len(sys.modules)
    found: list[tuple[Any, str, Any]] = _places["found"]
    return found


def _librdkafka() -> list[Any]:
    """Returns the classes of confluent-kafka, none if it is not imported."""
    module = sys.modules.get("confluent_kafka")
    classes = [getattr(module, name, None) for name in _LIBRDKAFKA_CLASSES]
    admin = sys.modules.get("confluent_kafka.admin")
    return [each for each in (*classes, getattr(admin, "AdminClient", None)) if each is not None]


@cache
def _is_frozen() -> bool:
    """Returns whether the program had frozen its objects before the first run. It is asked once, because the count visits all of them."""
    return gc.get_freeze_count() > 0


@contextmanager
def uncollected() -> Iterator[None]:
    """Collects no garbage until the end of the block, because that would finalize objects at times that no seed decides.

    The garbage of the block is collected at its end. No warning tells of unclosed clients, because a host that is killed closes nothing.
    """
    collects, freezes = gc.isenabled(), not _is_frozen()
    gc.disable()
    if freezes:
        gc.freeze()  # so that only what the block creates is searched at its end
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            try:
                yield
            finally:
                gc.collect()
    finally:
        if freezes:
            gc.unfreeze()
        if collects:
            gc.enable()


@contextmanager
def simulated_environment(loop: SimulatedLoop, seed: int) -> Iterator[None]:
    """Replaces time and chance by those of a run, and refuses what would leave it, until the end of the block."""
    replacements = _Replacements()
    chance = random.getstate()
    librdkafka = {id(each): _refusing(each, f"confluent_kafka.{each.__name__}", _LIBRDKAFKA) for each in _librdkafka()}
    with ExitStack() as stack:
        stack.callback(random.setstate, chance)
        stack.callback(replacements.undo)
        stack.enter_context(picklable_dates())
        for module, name, original in _uses():
            replacements.put(module, name, librdkafka.get(id(original)) or _FUNCTIONS[original])
        for owner, name, call, advice in _METHODS:
            replacements.put(owner, name, _refusing(getattr(owner, name), call, advice))
        replacements.put(random, "_urandom", _seeded_bytes)
        replacements.put(random.Random, "seed", _seed)
        random.seed(f"random {seed}")
        _runs.append(_Running(loop, random.Random(f"bytes {seed}"), threading.get_ident()))
        stack.callback(_runs.pop)
        sys.meta_path.insert(0, finder := _LibrdkafkaFinder())
        stack.callback(sys.meta_path.remove, finder)
        stack.enter_context(watch_for_endless_steps(loop))
        yield


_original_seed = random.Random.seed


def _seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    """Seeds a generator that has no seed of its own from the run."""
    run = _run()
    _original_seed(self, run.bytes.getrandbits(64) if a is None and run is not None else a, version)
