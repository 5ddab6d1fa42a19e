"""Arrow batches of rows for the writer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from odradek.spark_sink.producer import ProducerConfig
from odradek.spark_sink.task_writer import TYPES
from tests.spark.kafka_topics import Broker, Written, config_of


def producer_config(cluster: Broker, **settings: Any) -> ProducerConfig:
    return ProducerConfig(config_of(cluster), **settings)


def rows_of_records(records: Sequence[Written], **columns: Any) -> Any:
    arrays = {
        "key": pa.array([key for key, _, _ in records], TYPES["key"]),
        "value": pa.array([value for _, value, _ in records], TYPES["value"]),
        "headers": pa.array([[{"key": name.encode(), "value": value} for name, value in h] for _, _, h in records], TYPES["headers"]),
    }
    return pa.RecordBatch.from_pydict(arrays | {name: pa.array(values, TYPES[name]) for name, values in columns.items()})


def rows_of_values(texts: Sequence[bytes]) -> Any:
    return rows_of_records([(None, text, []) for text in texts])
