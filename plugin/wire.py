"""`kafka_wire`: the exchanges of one test. Everything it does is also available from `cluster.requests`, `cluster.wire` and captures."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from .. import AsyncCluster, Cluster
    from ..broker.wire.exchange import Entry, Exchange


class RequestCriteria(TypedDict, total=False):
    """The criteria of `cluster.requests`, besides `since`."""

    api: str | Sequence[str] | None
    topic: str | None
    group: str | None
    client_id: str | None
    error: str | None
    node: int | None
    connection: int | None


class KafkaWire:
    """The part of a cluster's record that begins with `start`, the number of the first entry of the test.

    `since` may be a later number, which `mark` has returned.
    """

    def __init__(self, cluster: Cluster, start: int) -> None:
        self._cluster = cluster
        self.start = start

    def mark(self) -> int:
        """Returns the number that the next entry will get."""
        return self._cluster.wire.mark()

    def requests(self, *, since: int = 0, **criteria: Unpack[RequestCriteria]) -> list[Exchange]:
        """Returns the exchanges that meet all criteria, as `cluster.requests` does."""
        return self._cluster.requests(**criteria, since=max(since, self.start))

    def since(self, mark: int = 0) -> list[Entry]:
        """Returns the exchanges and events from a mark on, in order, also exchanges that are not answered yet."""
        return self._cluster.wire.since(max(mark, self.start))

    def entries(self, filter: str = "", *, since: int = 0, verbose: bool = False) -> list[dict[str, Any]]:  # noqa: A002
        """Returns the exchanges and events that a filter such as "api=Produce and error" selects, as JSON objects."""
        return self._cluster.wire.entries(max(since, self.start), filter, verbose)

    def diagram(self, format: str = "text", *, filter: str = "", since: int = 0) -> str:  # noqa: A002
        """Returns a sequence diagram: text, mermaid, svg or html."""
        return self._cluster.wire.diagram(format, max(since, self.start), filter)

    @contextmanager
    def capture(self, file: str | PathLike[str]) -> Iterator[None]:
        """Writes what is sent in the body of the `with` to a pcapng file."""
        self._cluster.start_capture(file)
        try:
            yield
        finally:
            self._cluster.stop_capture()


class AsyncKafkaWire:
    """The same with methods to await."""

    def __init__(self, cluster: AsyncCluster, start: int) -> None:
        self._cluster = cluster
        self.start = start

    async def mark(self) -> int:
        """Returns the number that the next entry will get."""
        return await self._cluster.wire.mark()

    async def requests(self, *, since: int = 0, **criteria: Unpack[RequestCriteria]) -> list[Exchange]:
        """Returns the exchanges that meet all criteria, as `cluster.requests` does."""
        return await self._cluster.requests(**criteria, since=max(since, self.start))

    async def since(self, mark: int = 0) -> list[Entry]:
        """Returns the exchanges and events from a mark on, in order, also exchanges that are not answered yet."""
        return await self._cluster.wire.since(max(mark, self.start))

    async def entries(self, filter: str = "", *, since: int = 0, verbose: bool = False) -> list[dict[str, Any]]:  # noqa: A002
        """Returns the exchanges and events that a filter such as "api=Produce and error" selects, as JSON objects."""
        return await self._cluster.wire.entries(max(since, self.start), filter, verbose)

    async def diagram(self, format: str = "text", *, filter: str = "", since: int = 0) -> str:  # noqa: A002
        """Returns a sequence diagram: text, mermaid, svg or html."""
        return await self._cluster.wire.diagram(format, max(since, self.start), filter)

    @asynccontextmanager
    async def capture(self, file: str | PathLike[str]) -> AsyncIterator[None]:
        """Writes what is sent in the body of the `async with` to a pcapng file."""
        await self._cluster.start_capture(file)
        try:
            yield
        finally:
            await self._cluster.stop_capture()
