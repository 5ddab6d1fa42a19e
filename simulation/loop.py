"""An event loop whose time jumps to the next timer when nothing is ready, and whose network is in memory.

It is asyncio's own base class with another order of callbacks: it has no selector, and timers are tuples, which the heap compares without
a call of Python. No event outside of the process can wake it, so a run depends on the program and its seed only. Futures and tasks hash by
their number, because `asyncio.wait` and many libraries iterate over sets of them.
"""

from __future__ import annotations

import asyncio
from asyncio import base_events
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context
from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, NoReturn

from .errors import Deadlock, Livelock, SimulationError
from .network import SimulatedHost, here
from .trace import Trace

if TYPE_CHECKING:
    from .network import Network

TICK_S = 1e-6
"""The time that passes in each iteration, so that a loop which only looks at the clock ends."""
MAX_ITERATIONS_WITHOUT_WAITING = 20_000
"""The iterations in which the loop never waits for a timer, after which the program is said to turn in circles."""
MAX_CANCELLED_TIMERS = 500
"""The timers that are cancelled before the loop looks for all of them and forgets them. Until then, they wait for their time."""
_TASKS_SHOWN = 8


class _Future(asyncio.Future[Any]):
    __slots__ = ("number",)
    number: int

    def __hash__(self) -> int:
        return self.number


class SimulatedTask(asyncio.Task[Any]):
    """A task with its number and the host on which it runs."""

    number = 0
    place: SimulatedHost

    def __hash__(self) -> int:
        return self.number


class SimulatedLoop(base_events.BaseEventLoop):
    """The event loop of one run. `now_s` is the virtual time since the start."""

    network: Network
    _ready: deque[asyncio.Handle]
    _scheduled: list[tuple[float, int, asyncio.TimerHandle]]
    _closed: bool
    _stopping: bool

    def __init__(self) -> None:
        self.now_s = 0.0
        super().__init__()
        self.get_debug = bool  # type: ignore[method-assign]  # false; each handle and future asks, and a function in C answers sooner
        self._numbers, self._timer_numbers = count(1), count(1)
        self._cancelled_timers = 0
        self._busy = 0
        self.iterations = 0
        self.trace = Trace(self.time)
        self.failure: BaseException | None = None
        """An error that ends the run, although the program may have caught it."""
        self.is_ending = False
        self.after_events: list[Callable[[], object]] = []
        """Functions that are called after each iteration in which something has run."""
        self.set_task_factory(self._new_task)  # type: ignore[arg-type]  # with the options of any version of Python

    def time(self) -> float:
        """Returns the virtual time in seconds since the start."""
        return self.now_s

    # Callbacks

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:  # type: ignore[override]
        if self._closed:
            self._check_closed()  # type: ignore[attr-defined]
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.TimerHandle:  # type: ignore[override]
        """Calls a function at its time. Timers with the same time are called in the order in which they were set."""
        if self._closed:
            self._check_closed()  # type: ignore[attr-defined]
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heappush(self._scheduled, (when, next(self._timer_numbers), timer))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        self._cancelled_timers += 1

    def _run_once(self) -> None:
        """Runs one iteration after the other until the loop is stopped, because the caller would only call this again."""
        ready = self._ready
        while True:
            self.iterations += 1
            self.now_s += TICK_S
            self._count_busy_iteration()
            self._take_due_timers()
            for _ in range(len(ready)):
                handle = ready.popleft()
                if not handle._cancelled:  # noqa: SLF001  (as asyncio's loop does; a call would cost more)
                    handle._run()  # noqa: SLF001
            for check in self.after_events:
                check()
            if self.failure is not None:
                raise self.failure
            if self._stopping:
                return

    def _count_busy_iteration(self) -> None:
        """Raises Livelock after too many iterations without waiting."""
        self._busy += 1
        if self._busy > MAX_ITERATIONS_WITHOUT_WAITING:
            raise Livelock(
                f"the program has run {self._busy:,} times without waiting for a timer or the network; wait in its loops, for example "
                f"by `await asyncio.sleep(0.01)`; {self._running_tasks()}"
            )

    def _take_due_timers(self) -> None:
        """Makes the timers ready whose time has come, after moving the time if nothing is ready. Raises Deadlock if there is no timer."""
        if self._cancelled_timers > MAX_CANCELLED_TIMERS:
            self._forget_cancelled_timers()
        timers, ready = self._scheduled, self._ready
        while timers and timers[0][2]._cancelled:  # noqa: SLF001
            heappop(timers)
        if not ready and not self._stopping:
            if not timers:
                raise Deadlock(f"nothing is ready and no timer is set, so the program would wait for ever; {self.waiting_tasks()}")
            if timers[0][0] > self.now_s:
                self.now_s = timers[0][0]
                self._busy = 0
        while timers and timers[0][0] <= self.now_s:
            ready.append(heappop(timers)[2])

    def _forget_cancelled_timers(self) -> None:
        self._scheduled = [each for each in self._scheduled if not each[2].cancelled()]
        heapify(self._scheduled)
        self._cancelled_timers = 0

    def fail(self, error: BaseException) -> None:
        """Ends the run with an error after the present iteration. The first error counts."""
        self.failure = self.failure or error

    def begin_end(self) -> None:
        """Lets the loop run once more to clean up, also after a failure, without the functions that look at each event."""
        self.failure, self.after_events, self._busy, self.is_ending = None, [], 0, True

    def waiting_tasks(self) -> str:
        """Returns the tasks that are not done, with the places where they wait."""
        tasks = [task for task in self.tasks() if not task.done()]
        shown = [f"{task.get_name()} at {_place(task)}" for task in tasks[:_TASKS_SHOWN]]
        more = f" and {len(tasks) - _TASKS_SHOWN} more" if len(tasks) > _TASKS_SHOWN else ""
        return f"waiting: {', '.join(shown)}{more}" if shown else "no task is waiting"

    def _running_tasks(self) -> str:
        owners = [getattr(getattr(handle, "_callback", None), "__self__", None) for handle in self._ready]
        names = [f"{owner.get_name()} at {_place(owner)}" for owner in owners if isinstance(owner, asyncio.Task)]
        return f"running: {', '.join(names[:_TASKS_SHOWN])}" if names else "no task is running"

    def tasks(self) -> list[asyncio.Task[Any]]:
        """Returns the tasks in the order in which they were created."""
        return sorted(asyncio.all_tasks(self), key=hash)

    def create_future(self) -> asyncio.Future[Any]:
        future = _Future(loop=self)
        future.number = next(self._numbers)
        return future

    def _new_task(self, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any], **options: Any) -> asyncio.Task[Any]:
        task = SimulatedTask.__new__(SimulatedTask)
        task.number = next(self._numbers)  # before the task is added to a set
        context = options.get("context")
        task.place = here.get() if context is None else context.get(here) or here.get()
        options["name"] = options.get("name") or f"Task-{task.number}"
        SimulatedTask.__init__(task, coroutine, loop=loop, **options)
        return task

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Runs a function at once, in this thread."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001  (the future has it)
            future.set_exception(error)
        return future

    # The network

    async def getaddrinfo(self, host: Any, port: Any, **_: Any) -> list[Any]:
        """Returns an address for any host. Invented hosts have one each."""
        return self.network.resolve(host, port)

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> tuple[str, str]:
        return str(sockaddr[0]), str(sockaddr[1])

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        self._check_options("loop.create_connection", options)
        return await self.network.connect(protocol_factory, host, port)

    async def create_server(self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        self._check_options("loop.create_server", options)
        return self.network.listen(protocol_factory, host, port)

    def _check_options(self, call: str, options: dict[str, Any]) -> None:
        if options.get("ssl"):
            self._refuse(f"{call}(ssl=...)", "a simulation has no TLS; use a listener without it")
        if options.get("sock") is not None:
            self._refuse(f"{call}(sock=...)", "the network of a simulation is in memory; pass host and port")

    # The operating system

    def _write_to_self(self) -> None:
        """Does nothing, because no other thread wakes the loop."""

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:  # type: ignore[override]
        """Does nothing, because no signal arrives in a simulation."""

    def remove_signal_handler(self, sig: int) -> bool:
        return False

    def _refuse(self, call: str, advice: str) -> NoReturn:
        error = SimulationError(f"{call}: {advice}")
        self.fail(error)
        raise error


def _refusing(name: str, advice: str) -> Callable[..., Any]:
    def call(self: SimulatedLoop, *_: Any, **__: Any) -> NoReturn:
        self._refuse(f"loop.{name}", advice)

    call.__name__ = name
    return call


_SOCKETS = "a simulation has no sockets; use asyncio.open_connection or asyncio.start_server, whose network is in memory"
_PROCESSES = "a simulation starts no process; replace it by a coroutine of the test"
for _name, _advice in (
    *((name, _SOCKETS) for name in ("add_reader", "remove_reader", "add_writer", "remove_writer", "start_tls", "sendfile")),
    *((f"sock_{name}", _SOCKETS) for name in ("accept", "connect", "recv", "recv_into", "recvfrom", "sendall", "sendfile", "sendto")),
    *((name, _SOCKETS) for name in ("create_datagram_endpoint", "create_unix_connection", "create_unix_server", "connect_accepted_socket")),
    *((name, _PROCESSES) for name in ("subprocess_exec", "subprocess_shell", "connect_read_pipe", "connect_write_pipe")),
):
    setattr(SimulatedLoop, _name, _refusing(_name, _advice))


def _place(task: asyncio.Task[Any]) -> str:
    """Returns file and line where a task waits."""
    frames = task.get_stack(limit=1)
    return f"{frames[-1].f_code.co_filename.rpartition('/')[2]}:{frames[-1].f_lineno}" if frames else "its start"
