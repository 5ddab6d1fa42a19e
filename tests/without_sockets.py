"""A pytest plugin that refuses network sockets: `make test-fast` loads it, so that tests which need sockets are marked."""

from __future__ import annotations

import socket

import pytest


def _refuse(*_: object) -> None:
    raise AssertionError("this test uses a network socket: mark it with pytest.mark.sockets")


def pytest_configure(config: pytest.Config) -> None:
    # xdist's workers talk to their parent by pipes, so only the code under test is affected.
    socket.socket.bind = socket.socket.connect = _refuse  # type: ignore[method-assign]
