"""A Faust application that counts words in a table. test_faust.py runs it as a worker, in a virtual environment with Faust."""

from __future__ import annotations

import os
from typing import Any

import faust

BROKER = ";".join(f"kafka://{address}" for address in os.environ["BOOTSTRAP_SERVERS"].split(","))
app = faust.App(
    "word-count",
    broker=BROKER,
    store="memory://",  # a worker that starts reads the table from its changelog topic
    topic_partitions=2,
    topic_replication_factor=1,
    web_enabled=False,
    broker_commit_interval=0.2,
)
words = app.topic("words", value_serializer="raw")
totals = app.topic("totals", value_serializer="raw")
counts = app.Table("counts", default=int)


async def count(stream: Any) -> None:
    async for key, word in stream.items():
        counts[word.decode()] += 1
        await totals.send(key=key, value=f"{word.decode()} {counts[word.decode()]}".encode())


app.agent(words)(count)

if __name__ == "__main__":
    app.main()
