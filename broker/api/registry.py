"""The registry of handlers: `@handles(API)` registers the function that serves the requests of an API."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeVar

from ...protocol.schema import Api, Message
from ..scheduling.waiting import Wait
from .context import Context

Rule = Callable[[Any, Context], "Message | Generator[Wait, None, Message | None] | None"]
"""A handler function. It returns the response, a generator that yields `Wait`s before it returns the response, or None if the request
has no response (Produce with acks=0)."""

F = TypeVar("F", bound=Callable[..., Any])


class CloseConnection(Exception):
    """Raised by a handler to close the connection without a response. The text is the reason for the log.

    The connection is closed once its output is written, with RST instead of FIN if `reset` is true.
    """

    def __init__(self, reason: str, *, reset: bool = False) -> None:
        super().__init__(reason)
        self.reset = reset


class Handler(NamedTuple):
    """An API and the function that serves its requests."""

    api: Api
    rule: Rule


HANDLERS: dict[int, Handler] = {}


def handles(api: Api) -> Callable[[F], F]:
    """Registers the decorated function as the handler of `api`."""

    def register(rule: F) -> F:
        HANDLERS[api.key] = Handler(api, rule)
        return rule

    return register
