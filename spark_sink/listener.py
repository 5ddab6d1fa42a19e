"""Logs the lag of streaming queries, because Spark accepts no metrics from Python data sources."""

from __future__ import annotations

import json
import logging

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)

from ..protocol.client.connection import TopicPartition
from .offset_options import from_json

logger = logging.getLogger("odradek.spark_sink.lag")


class LagListener(StreamingQueryListener):
    """Logs after each batch how many offsets of each partition have not been read yet. Needs PySpark 4.2.

    It is added with `spark.streams.addListener(LagListener())`. The logger is `odradek.spark_sink.lag`, the level INFO.
    """

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802
        """Logs nothing."""

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Logs the lag of each source of the query after a batch."""
        progress = event.progress
        for source in progress.sources:
            if behind := lag(source.endOffset, source.latestOffset):
                listed = ", ".join(f"{partition}: {offsets}" for partition, offsets in sorted(behind.items()))
                logger.info(
                    "%s batch %d is %d offsets behind (%s)", progress.name or progress.id, progress.batchId, sum(behind.values()), listed
                )

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Logs nothing."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Logs nothing."""


def lag(end: str | None, latest: str | None) -> dict[TopicPartition, int]:
    """Returns how many offsets `latest` is ahead of `end`, both as JSON of a query's progress; empty for sources of other formats."""
    try:
        ends, latests = (from_json(json.loads(offsets or "")) for offsets in (end, latest))
        return {partition: max(offset - ends.get(partition, 0), 0) for partition, offset in latests.items()}
    except (AttributeError, TypeError, ValueError):
        return {}
