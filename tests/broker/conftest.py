"""The event loops on which tests of sockets run a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from odradek.broker.network.driver import new_event_loop

from .network.client import LOOPS


@pytest.fixture(params=LOOPS)
def loop_factory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[], asyncio.AbstractEventLoop]:
    monkeypatch.setenv("ODRADEK_LOOP", request.param)
    return new_event_loop
