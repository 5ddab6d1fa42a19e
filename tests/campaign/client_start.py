"""Clients of aiokafka that start while nodes fail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from aiokafka.errors import KafkaError


async def start_client(make: Callable[[], Any]) -> Any:
    """Returns a client that is started, as often as that takes."""
    while True:
        client = make()
        try:
            await client.start()
            return client
        except (KafkaError, OSError):
            await client.stop()
            await asyncio.sleep(1)
        except BaseException:
            await client.stop()
            raise
