"""The event loops on which tests of sockets run a cluster, and memory that the garbage collector does not free."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Iterator

import pytest

from odradek.broker.network.driver import new_event_loop

from .network.client import LOOPS


@pytest.fixture(params=LOOPS)
def loop_factory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], asyncio.AbstractEventLoop]:
    monkeypatch.setenv("ODRADEK_LOOP", request.param)
    return new_event_loop


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Keeps the garbage collector from running, so that only references keep memory."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
