"""Uses kaskade's terminal interface without a terminal, and prints what its tables show. It runs in a virtual environment with kaskade."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

from kaskade.admin import KaskadeAdmin
from kaskade.consumer import KaskadeConsumer
from kaskade.deserializers import Deserialization
from textual.widgets import DataTable

PATIENCE_S = 60.0
CREATED = "made-by-kaskade"
Rows = list[list[str]]


def with_lag(rows: Rows) -> bool:
    """Returns True once the list of topics shows the lag of each topic, which is read last."""
    return bool(rows) and all(row[-1][-1:].isdigit() for row in rows)


async def shown(app: Any, pilot: Any, table_id: str, complete: Callable[[Rows], bool]) -> Rows:
    """Returns the rows of a table of the present screen once they are complete."""
    rows: Rows = []
    try:
        async with asyncio.timeout(PATIENCE_S):
            while not complete(rows):
                await pilot.pause(0.02)
                tables = app.screen.query(table_id).results(DataTable)
                rows = [[str(cell) for cell in table.get_row(key)] for table in tables for key in table.rows]
    except TimeoutError:
        raise TimeoutError(f"the table {table_id} is not complete: {rows}") from None
    return rows


async def administer(bootstrap_servers: str) -> dict[str, Rows]:
    """Shows the list of topics and the details of the first one, and creates a topic."""
    app = KaskadeAdmin({"bootstrap.servers": bootstrap_servers}, refresh_interval=0)
    tables: dict[str, Rows] = {}
    async with app.run_test(size=(160, 50)) as pilot:
        tables["topics"] = await shown(app, pilot, "#topics-table", with_lag)
        await pilot.press("tab", "down", "d")
        for tab in ("partitions", "configurations", "groups", "group-offsets", "group-members"):
            tables[tab] = await shown(app, pilot, f"#{tab} DataTable", bool)
        await pilot.press("escape", "n", *CREATED, "ctrl+s")
        await shown(app, pilot, "#topics-table", lambda rows: with_lag(rows) and CREATED in [row[0] for row in rows])
    return tables


async def consume(bootstrap_servers: str, count: int) -> Rows:
    """Shows the records of a topic."""
    app = KaskadeConsumer(
        "orders",
        {"bootstrap.servers": bootstrap_servers, "auto.offset.reset": "earliest"},
        {},
        {},
        {},
        Deserialization.STRING,
        Deserialization.JSON,
    )
    async with app.run_test(size=(160, 50)) as pilot:
        return await shown(app, pilot, "#records-table", lambda rows: len(rows) == count)


async def main(bootstrap_servers: str, count: int) -> None:
    tables = await administer(bootstrap_servers)
    print(json.dumps(tables | {"records": await consume(bootstrap_servers, count)}))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
