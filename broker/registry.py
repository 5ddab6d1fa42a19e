"""Which function answers which API."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeVar

from ..protocol.schema import Api, Message
from .context import Context
from .scheduling.waiting import Wait

Rule = Callable[[Any, Context], "Message | Generator[Wait, None, Message | None] | None"]
"""Returns the response, or a generator that yields `Wait`s before it does. None: no answer is due (Produce with acks=0)."""

F = TypeVar("F", bound=Callable[..., Any])


class CloseConnection(Exception):
    """Raised by a rule whose request has no answer but the end of its connection; the text is the reason."""


class Handler(NamedTuple):
    """An API and the rule that answers it."""

    api: Api
    rule: Rule


HANDLERS: dict[int, Handler] = {}


def handles(api: Api) -> Callable[[F], F]:
    """Registers the decorated function as the rule of `api`."""

    def register(rule: F) -> F:
        HANDLERS[api.key] = Handler(api, rule)
        return rule

    return register
