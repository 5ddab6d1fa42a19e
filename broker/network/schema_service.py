"""Carries out the requests to the schema registry one after the other, whether they come over HTTP or from controls.

The records of a request are appended in a turn of the event loop. Work on large schemas runs in a thread, so that the brokers answer
meanwhile; other requests to the registry then wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ..faults.registry import MESSAGE, RegistryCall, RegistryFault
from ..schema_registry.errors import RegistryError
from ..schema_registry.registry import SchemaRegistry
from ..schema_registry.schema_topic import SchemaTopic
from ..schema_registry.subjects import DEFAULT_CONTEXT
from ..settings.schema_registry import RegistrySettings

if TYPE_CHECKING:
    from .server import Server

T = TypeVar("T")

LARGE_CHARACTERS = 64 * 1024


class Faulted(NamedTuple):
    """The effect of faults on a request: their descriptions, the delay, and the error that one of them answers, if any."""

    faults: Sequence[str]
    delay_ms: int
    error: RegistryError | None


class SchemaService:
    """The registry of a cluster."""

    def __init__(self, server: Server, settings: RegistrySettings) -> None:
        self._server = server
        self._registry = SchemaRegistry(SchemaTopic(lambda: server.cluster, settings.topic), settings)
        self._lock = asyncio.Lock()
        self._topic = settings.topic
        self._numbers = count()

    @cached_property
    def _produced(self) -> SchemaTopic:
        """The topic of the schemas for records that are produced. Its index is another one, because that of the registry may be in use."""
        return SchemaTopic(lambda: self._server.cluster, self._topic)

    def subjects_of(self, schema_id: int) -> list[str]:
        """Returns the subjects with a version that has the id of a schema and is not deleted. It belongs to a turn of the event loop."""
        self._produced.catch_up()
        index = self._produced.index
        versions = index.subjects_of(DEFAULT_CONTEXT, schema_id).items()
        return [subject for subject, version in versions if (found := index.version(subject, version)) is not None and not found.deleted]

    async def pass_faults(self, call: RegistryCall) -> Faulted:
        """Lets the faults of the cluster act on a request, which waits as long as they say. Returns those that have hit it."""
        core, texts, delay_ms = self._server.core, list[str](), 0
        for fault in core.faults.active if "faults" in vars(core) else ():
            if isinstance(fault, RegistryFault):
                with self._server.turn("applying a fault to the schema registry"):
                    effect = fault.answer(call, core.timers.now_ms)
                if effect is None:
                    continue
                texts.append(str(fault))
                delay_ms += effect.delay_ms
                if effect.delay_ms:
                    await self._wait(fault, effect.delay_ms)
                if effect.error_code is not None:
                    return Faulted(texts, delay_ms, RegistryError(effect.error_code, MESSAGE))
        return Faulted(texts, delay_ms, None)

    async def _wait(self, fault: RegistryFault, delay_ms: int) -> None:
        """Waits by the clock of the cluster. If its state is replaced meanwhile, the request is answered at once."""
        passed = asyncio.get_running_loop().create_future()
        timers, key = self._server.core.timers, (fault, "registry", next(self._numbers))
        with self._server.turn("delaying a request to the schema registry"):
            timers.set(key, delay_ms, lambda: passed.set_result(None))
        try:
            while not passed.done() and self._server.core.timers is timers and not fault.removed:
                await asyncio.wait([passed, self._server.driver.next_change()], return_when=asyncio.FIRST_COMPLETED)
        finally:
            timers.cancel(key)

    async def read_in_thread(self, work: Callable[[SchemaRegistry], T]) -> T:
        """Returns the result of work that changes nothing and may take long."""
        async with self._lock:
            self._registry.topic.catch_up()
            return await asyncio.to_thread(work, self._registry)

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
