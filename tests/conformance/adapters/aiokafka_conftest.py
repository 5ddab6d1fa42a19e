"""The fixtures of aiokafka's tests, for a cluster that already runs: its address is in $BROKERS, its release in $KAFKA_VERSION."""

from __future__ import annotations

import asyncio
import gc
import os
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--docker-image", default=None)  # tests read it to choose what to skip


@pytest.fixture(scope="class")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    loop.close()
    gc.collect()
    asyncio.set_event_loop(None)


@pytest.fixture(scope="class")
def setup_test_class_serverless(request: pytest.FixtureRequest, loop: asyncio.AbstractEventLoop) -> None:
    request.cls.loop = loop


@pytest.fixture(scope="class")
def setup_test_class(request: pytest.FixtureRequest, loop: asyncio.AbstractEventLoop) -> None:
    host, _, port = os.environ["BROKERS"].partition(",")[0].rpartition(":")
    found = {"loop": loop, "kafka_host": host, "kafka_port": int(port), "hosts": [f"{host}:{port}"]}
    for name, value in {**found, "kafka_version": os.environ["KAFKA_VERSION"]}.items():
        setattr(request.cls, name, value)


@pytest.fixture(scope="session")
def session_id() -> str:
    return str(uuid.uuid4())


@pytest.fixture(scope="session")
def ssl_folder() -> Path:
    return Path("tests/ssl_cert")
