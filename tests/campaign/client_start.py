"""Clients of aiokafka that start and stop while nodes fail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from aiokafka.errors import KafkaError

METADATA = {"metadata_max_age_ms": 5000}
"""Settings of each client, because aiokafka 0.14 sends ListOffsets to a former leader until it reads the metadata again."""


async def start_client(make: Callable[[], Any]) -> Any:
    """Returns a client that is started, as often as that takes."""
    while True:
        client = make()
        try:
            await client.start()
            return client
        except (KafkaError, OSError):
            await stop_client(client)
            await asyncio.sleep(1)
        except BaseException:
            await stop_client(client)
            raise


async def stop_client(client: Any) -> None:
    """Stops a client.

    AIOKafkaConsumer.stop of aiokafka 0.14 raises the CancelledError of a task of its own if that waits before it fetches again.
    """
    try:
        await client.stop()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
