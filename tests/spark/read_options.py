"""Options of a reader, without Spark."""

from __future__ import annotations

from odradek.spark_sink.client import EARLIEST, LATEST, KafkaClient
from odradek.spark_sink.offset_options import Bound
from odradek.spark_sink.source_options import ReadOptions, Subscription


def options(client: KafkaClient, subscription: Subscription, start: Bound = EARLIEST, end: Bound = LATEST) -> ReadOptions:
    return ReadOptions(
        client=client.config,
        subscription=subscription,
        starting=start,
        ending=end,
        include_headers=True,
        fail_on_data_loss=True,
        min_partitions=None,
        max_records_per_partition=None,
    )
