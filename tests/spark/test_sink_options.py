"""The options and columns of writes, and the errors for invalid ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.types import StructType, _parse_datatype_string

from odradek.protocol.batches.compression import Compression
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.producer import ALL_REPLICAS, ProducerConfig
from odradek.spark_sink.sink_options import LEADER_ONLY, check_schema, sink_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("columns", "topic", "text"),
    [
        ("value string", None, "topic option required when no 'topic' attribute is present. Use the topic option for setting a topic."),
        ("value string, topic int", None, "topic attribute unsupported type int. topic must be a(n) string"),
        ("VALUE string", "t", "Required attribute 'value' not found"),
        ("value int", "t", "value attribute unsupported type int. value must be a(n) string or binary"),
        ("value void", "t", "value attribute unsupported type void. value must be a(n) string or binary"),
        ("value string, key array<int>", "t", "key attribute unsupported type array<int>. key must be a(n) string or binary"),
        ("value string, partition bigint", "t", "partition attribute unsupported type bigint. partition must be a(n) int"),
        (
            "value string, headers array<struct<name:string,value:binary>>",
            "t",
            "headers attribute unsupported type array<struct<name:string,value:binary>>. "
            "headers must be a(n) array<struct<key:string,value:binary>>",
        ),
        ("value string, headers void", "t", "headers attribute unsupported type void"),
    ],
)
def test_check_schema_invalid_column_raises(spark: SparkSession, columns: str, topic: str | None, text: str) -> None:
    schema = _parse_datatype_string(columns)
    assert isinstance(schema, StructType)
    with pytest.raises(ValueError) as caught:
        check_schema(schema, topic)
    assert str(caught.value).startswith(text)


def options_of(**values: Any) -> ProducerConfig:
    options = {"kafka.bootstrap.servers": "h:1", "topic": "t"} | {name.replace("__", "."): str(value) for name, value in values.items()}
    return sink_options(options, StructType().add("value", "string")).producer


def test_sink_options_defaults_and_values() -> None:
    default = options_of()
    assert (default.acks, default.idempotent, default.compression, default.compression_level) == (
        ALL_REPLICAS,
        True,
        Compression.NONE,
        None,
    )
    values = options_of(kafka__acks="1", kafka__compression__type="zstd", kafka__compression__zstd__level="5", kafka__batch__size="9")
    assert (values.acks, values.idempotent, values.compression, values.compression_level) == (LEADER_ONLY, False, Compression.ZSTD, 5)
    assert values.batch_size == 9
    timeouts = options_of(
        kafka__max__request__size=1, kafka__delivery__timeout__ms=2, kafka__max__block__ms=3, kafka__request__timeout__ms=4
    )
    assert (timeouts.max_request_size, timeouts.delivery_timeout_ms, timeouts.max_block_ms) == (1, 2, 3)
    assert timeouts.client.request_timeout_ms == 4
    assert not options_of(kafka__enable__idempotence="false").idempotent


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            {"kafka.key.serializer": "x"},
            "Kafka option 'kafka.key.serializer' is not supported as keys are serialized with ByteArraySerializer.",
        ),
        ({"kafka.value.serializer": "x"}, "Kafka option 'kafka.value.serializer' is not supported as value are serialized with ByteArray"),
        ({"kafka.acks": "2"}, "Invalid value 2 for option 'kafka.acks': String must be one of: -1, 0, 1, all"),
        (
            {"kafka.acks": "1", "kafka.enable.idempotence": "true"},
            "Must set kafka.acks to all in order to use the idempotent producer: set",
        ),
        (
            {"kafka.compression.type": "lzma"},
            "Invalid value lzma for option 'kafka.compression.type': String must be one of: gzip, lz4, none",
        ),
        ({"kafka.batch.size": "x"}, 'For input string: "x"'),
    ],
)
def test_sink_options_invalid_value_raises(values: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        sink_options({"kafka.bootstrap.servers": "h:1", "topic": "t"} | values, StructType().add("value", "string"))
    assert str(caught.value).startswith(text)


def test_sink_options_misspelt_setting_warns() -> None:
    with pytest.warns(UserWarning, match=r"Kafka option 'kafka\.compresion\.type' is not known here"):
        options_of(kafka__compresion__type="lz4")
    options_of(kafka__linger__ms=5)


def test_sink_options_without_brokers_raises() -> None:
    with pytest.raises(KafkaCondition, match=r"Kafka option 'kafka\.bootstrap\.servers' is not set"):
        sink_options({"topic": "t"}, StructType().add("value", "string"))
