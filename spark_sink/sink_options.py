"""Parses the options of writes and checks their columns, with the names, defaults and error texts of Spark's own Kafka sink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql.types import BinaryType, DataType, IntegerType, StringType, StructType

from ..protocol.batches.compression import Compression
from .client_options import BOOTSTRAP_SERVERS, client_config, names, warn_of_unknown
from .error_conditions import KafkaCondition
from .producer import ALL_REPLICAS, ProducerConfig
from .user_options import UserOptions

LEADER_ONLY = 1
ACKS = {"all": ALL_REPLICAS, "-1": ALL_REPLICAS, "1": LEADER_ONLY, "0": LEADER_ONLY}
"""Values of the option `kafka.acks`. 0 is treated as 1, because errors cannot be reported without responses."""
CODECS = {codec.name.lower(): int(codec) for codec in Compression}
LEVELS = {Compression.GZIP: (1, 9), Compression.LZ4: (1, 17), Compression.ZSTD: (-131072, 22)}
ACTING = names(
    "acks batch.size bootstrap.servers client.id compression.gzip.level compression.lz4.level compression.type compression.zstd.level "
    "delivery.timeout.ms enable.idempotence max.block.ms max.request.size request.timeout.ms security.protocol"
)
WITHOUT_EFFECT = names(
    "auto.include.jmx.reporter buffer.memory client.dns.lookup connections.max.idle.ms enable.metrics.push interceptor.classes linger.ms "
    "max.in.flight.requests.per.connection metadata.max.age.ms metadata.max.idle.ms metadata.recovery.rebootstrap.trigger.ms "
    "metadata.recovery.strategy metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms "
    "partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms receive.buffer.bytes reconnect.backoff.max.ms "
    "reconnect.backoff.ms retries retry.backoff.max.ms retry.backoff.ms security.providers send.buffer.bytes "
    "socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms"
)
"""Settings of Kafka's producer that are accepted without a warning, because they do not change the records that are written."""
_SERIALIZED = "is not supported as {} serialized with ByteArraySerializer."
REFUSED = {"key.serializer": _SERIALIZED.format("keys are"), "value.serializer": _SERIALIZED.format("value are")}
HEADERS = "array<struct<key:string,value:binary>>"


@dataclass(frozen=True)
class SinkOptions:
    """The parsed options of a write. `topic` is the topic of all rows; None means that the rows have a column `topic`."""

    producer: ProducerConfig
    topic: str | None


def sink_options(options: Mapping[str, str], schema: StructType) -> SinkOptions:
    """Parses the options. Raises ValueError and KafkaCondition in the words of Spark's own sink, also for a schema that it rejects."""
    user_options = UserOptions(options)
    user_options.refuse(REFUSED)
    if BOOTSTRAP_SERVERS not in user_options:
        if "path" in user_options:
            raise ValueError(f"Rows cannot be written to log directories: set '{BOOTSTRAP_SERVERS}' instead of a path, to write to brokers")
        raise KafkaCondition("MISSING_KAFKA_OPTION", f"Kafka option '{BOOTSTRAP_SERVERS}' is not set. It names the brokers to write to.")
    warn_of_unknown(user_options, ACTING | WITHOUT_EFFECT)
    topic = user_options.text("topic", "") if "topic" in user_options else None
    check_schema(schema, topic)
    return SinkOptions(_producer_config(user_options), topic)


def check_schema(schema: StructType, topic: str | None) -> None:
    """Raises ValueError for a missing column or a wrong type; columns that the sink does not use are ignored."""
    types = {field.name: field.dataType for field in schema}
    if topic is None and "topic" not in types:
        raise ValueError("topic option required when no 'topic' attribute is present. Use the topic option for setting a topic.")
    if topic is None:
        _check_type("topic", types["topic"], "string", isinstance(types["topic"], StringType))
    if "value" not in types:
        raise ValueError("Required attribute 'value' not found")
    for name in ("key", "value"):
        if name in types:
            _check_type(name, types[name], "string or binary", isinstance(types[name], StringType | BinaryType))
    if "headers" in types:
        _check_type("headers", types["headers"], HEADERS, types["headers"].simpleString() == HEADERS)
    if "partition" in types:
        _check_type("partition", types["partition"], "int", isinstance(types["partition"], IntegerType))


def _check_type(name: str, kind: DataType, expected: str, fits: bool) -> None:
    if not fits:
        raise ValueError(f"{name} attribute unsupported type {kind.simpleString()}. {name} must be a(n) {expected}")


def _producer_config(options: UserOptions) -> ProducerConfig:
    default = ProducerConfig(client_config(options))
    acks = options.choice("kafka.acks", "all", ACKS)
    idempotent = options.boolean("kafka.enable.idempotence", acks == ALL_REPLICAS)
    if idempotent and acks != ALL_REPLICAS:
        raise ValueError(
            "Must set kafka.acks to all in order to use the idempotent producer: set kafka.enable.idempotence to false or leave it out."
        )
    codec = Compression(options.choice("kafka.compression.type", "none", CODECS))
    return ProducerConfig(
        client=default.client,
        acks=acks,
        idempotent=idempotent,
        compression=codec,
        compression_level=_level(options, codec),
        batch_size=options.integer("kafka.batch.size", default.batch_size),
        max_request_size=options.integer("kafka.max.request.size", default.max_request_size, 1),
        delivery_timeout_ms=options.integer("kafka.delivery.timeout.ms", default.delivery_timeout_ms),
        max_block_ms=options.integer("kafka.max.block.ms", default.max_block_ms),
    )


def _level(options: UserOptions, codec: Compression) -> int | None:
    name = f"kafka.compression.{codec.name.lower()}.level"
    return options.integer(name, 0, *LEVELS[codec]) if codec in LEVELS and name in options else None
