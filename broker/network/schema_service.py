"""Carries out the requests to the schema registry one after the other, whether they come over HTTP or from controls.

The records of a request are appended in a turn of the event loop. Work on large schemas runs in a thread, so that the brokers answer
meanwhile; other requests to the registry then wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ..schema_registry.registry import SchemaRegistry
from ..schema_registry.schema_topic import SchemaTopic
from ..settings.schema_registry import RegistrySettings

if TYPE_CHECKING:
    from .server import Server

T = TypeVar("T")

LARGE_CHARACTERS = 64 * 1024


class SchemaService:
    """The registry of a cluster."""

    def __init__(self, server: Server, settings: RegistrySettings) -> None:
        self._server = server
        self._registry = SchemaRegistry(SchemaTopic(lambda: server.cluster, settings.topic), settings)
        self._lock = asyncio.Lock()

    async def run(self, work: Callable[[SchemaRegistry], T], *, subject: str = "", size: int = 0) -> T:
        """Returns the result of work on the registry, after what it has written has been appended.

        `subject` and `size`, the number of characters that the request contains, say how long it may take. Raises RegistryError, and
        nothing is changed then.
        """
        registry = self._registry
        async with self._lock:
            registry.topic.catch_up()
            if size + registry.reader.size(subject) > LARGE_CHARACTERS:
                result = await asyncio.to_thread(work, registry)
            else:
                result = work(registry)
            if registry.topic.has_changes:
                with self._server.turn("changing the schema registry"):
                    registry.topic.commit()
        return result
