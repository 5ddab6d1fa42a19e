"""Declares controls: the operations on a running cluster that users call from Python, over HTTP and on the command line.

A control is an asynchronous method of a class that derives from `Controls`, with the decorator `@control("node stop")`. Everything else
follows from the method:

* its signature contains the parameters. Each is annotated with `Annotated[type, "help text"]`, and the types that recur are named once in
  `parameters.py`. A default makes a parameter optional;
* its return annotation is the result: None, a plain value, or a frozen data class of plain values (`frozen_data.py`);
* its docstring is the help text, and its first line the summary;
* the words of the decorator are its command (`odradek ctl node stop 2`) and its route (`POST /node/stop`). A control that changes nothing
  is declared with `reads=True`, and its route is a GET.

`AsyncCluster` inherits the methods. `Cluster` offers each as a blocking method by a line such as
`stop_node = blocking(NodeControls.stop_node)`, which keeps the types of parameters and result.

Callers in Python get the method with a check of their arguments in front (`interface/python_values.py`).

A control runs between two turns of the event loop, on the loop's thread. It checks all its arguments before it changes anything, and raises
`InvalidControl` with the name of the parameter and the nearest valid value, `ControlRefused` if the state of the cluster forbids what was
asked, or `ControlTimeout` if what it waited for did not happen.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from ..network.server import Server

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Awaitable[Any]])


class PythonOnly:
    """Marks a parameter that only Python can express, such as a function: `Annotated[Callable[...], "help text", PythonOnly]`."""


class Control(NamedTuple):
    """The declaration of a control: its words on the command line, the method that implements it, and whether it only reads.

    `owner` is the attribute of the cluster to whose object the method belongs, such as "clock"; it is empty for methods of the cluster.
    A control that `may_stop` takes long and is cancelled when its caller gives up, also if it changes the cluster, because it leaves a
    valid state wherever it stops.
    """

    words: tuple[str, ...]
    method: Callable[..., Awaitable[Any]]
    reads: bool
    owner: str
    may_stop: bool

    @property
    def help(self) -> str:
        """The docstring of the method."""
        return inspect.getdoc(self.method) or ""


CONTROLS: dict[tuple[str, ...], Control] = {}
"""All controls by their words, in the order of their declaration."""


def control(words: str, *, reads: bool = False, owner: str = "", may_stop: bool = False) -> Callable[[F], F]:
    """Returns a decorator that declares a method as the control with these words, such as "node stop"."""

    def declare(method: F) -> F:
        key = tuple(words.split())
        if key in CONTROLS:
            raise ValueError(f"the control {words!r} is declared twice")
        CONTROLS[key] = Control(key, method, reads, owner, reads or may_stop)
        return checking(method)

    return declare


def checking(method: F) -> F:
    """Returns a method that compares its arguments with their annotations first, which HTTP and the command line have done already."""
    if inspect.iscoroutinefunction(method):

        @wraps(method)
        async def call(*args: Any, **kwargs: Any) -> Any:
            bound = _arguments(method, args, kwargs)
            return await method(*bound.args, **bound.kwargs)

    else:

        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            bound = _arguments(method, args, kwargs)
            return method(*bound.args, **bound.kwargs)

    return cast(F, call)


def _arguments(method: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
    from .interface.python_values import arguments_of

    return arguments_of(method, args, kwargs)


class Controls:
    """The base of the classes that declare controls."""

    @property
    def _server(self) -> Server:
        """The running cluster. Raises ValueError if the cluster is not running."""
        raise NotImplementedError


class Part(Controls):
    """The base of the objects that hang at an attribute of a cluster and declare controls of their own, such as `cluster.clock`."""

    def __init__(self, cluster: Controls) -> None:
        self._cluster = cluster

    @property
    def _server(self) -> Server:
        return self._cluster._server


class Blocking:
    """The base of the classes whose methods `blocking` makes.

    `controls` is the object with the asynchronous methods, and `run` waits for a coroutine that runs on the cluster's event loop.
    """

    def __init__(self, controls: Controls, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._controls = controls
        self._run = run


def blocking(method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]) -> Callable[Concatenate[Any, P], R]:
    """Returns a method of a `Blocking` class that runs a control in the cluster's thread and returns its result."""

    @wraps(method)
    def call(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        result: R = self._run(method(self._controls, *args, **kwargs))
        return result

    return call
