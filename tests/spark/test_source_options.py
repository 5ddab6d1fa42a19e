"""Options of reads, and the errors for invalid ones."""

from __future__ import annotations

import pickle
import re

import pytest

from odradek.protocol.client.connection import TopicPartition
from odradek.spark_sink.client import EARLIEST, LATEST, READ_COMMITTED, ClientConfig
from odradek.spark_sink.client_options import warn_of_unknown
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.offset_options import Times
from odradek.spark_sink.source_options import Assign, ReadOptions, Subscribe, SubscribePattern, batch_options, read_options, stream_options
from odradek.spark_sink.trigger_options import NO_LIMIT, TriggerOptions
from odradek.spark_sink.user_options import UserOptions

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def raw_options(**values: str) -> dict[str, str]:
    """Returns options with the two that every read needs; the value "-" removes one."""
    chosen = {"kafka.bootstrap.servers": "a:1", "subscribe": "t"} | {name.replace("__", "."): value for name, value in values.items()}
    return {name: value for name, value in chosen.items() if value != "-"}


def options(**values: str) -> ReadOptions:
    return read_options(raw_options(**values))


def test_read_options_defaults() -> None:
    assert options() == ReadOptions(
        client=ClientConfig((("a", 1),)),
        subscription=Subscribe(("t",)),
        starting=EARLIEST,
        ending=LATEST,
        include_headers=False,
        fail_on_data_loss=True,
        min_partitions=None,
        max_records_per_partition=None,
    )


def test_read_options_all_set() -> None:
    found = read_options(
        {
            "KAFKA.bootstrap.servers": "a:1, [::1]:9092,,b:2",
            "ASSIGN": '{"t":[0,1]}',
            "STARTINGoffsets": '{"t":{"0":5,"1":-2}}',
            "endingOffsets": ' {"t":{"0":-1,"1":9}} ',
            "includeHeaders": "TRUE",
            "failOnDataLoss": "false",
            "kafka.isolation.level": "read_committed",
            "kafka.check.crcs": "false",
            "kafka.client.id": "me",
            "kafka.request.timeout.ms": "1",
            "kafka.fetch.max.wait.ms": "2",
            "kafka.fetch.max.bytes": "3",
            "kafka.max.partition.fetch.bytes": "4",
            "kafkaConsumer.pollTimeoutMs": "5",
            "fetchOffset.numRetries": "4",
            "minPartitions": "3",
            "maxRecordsPerPartition": "1000",
            "kafka.default.api.timeout.ms": "6",
            "kafka.fetch.min.bytes": "7",
            "fetchOffset.retryIntervalMs": "100",
            "kafka.no.such.setting": "x",
        }
    )
    assert found == ReadOptions(
        client=ClientConfig(
            bootstrap_servers=(("a", 1), ("::1", 9092), ("b", 2)),
            client_id="me",
            isolation_level=READ_COMMITTED,
            check_crcs=False,
            request_timeout_ms=1,
            poll_timeout_ms=5,
            settling_ms=300,
            fetch_max_wait_ms=2,
            fetch_max_bytes=3,
            max_partition_fetch_bytes=4,
            api_timeout_ms=6,
            fetch_min_bytes=7,
        ),
        subscription=Assign((T0, T1)),
        starting={T0: 5, T1: EARLIEST},
        ending={T0: LATEST, T1: 9},
        include_headers=True,
        fail_on_data_loss=False,
        min_partitions=3,
        max_records_per_partition=1000,
    )


def test_read_options_subscriptions() -> None:
    assert options(subscribe=" b, a,,b ").subscription == Subscribe(("b", "a"))
    assert options(subscribe="-", subscribePattern="^a.*").subscription == SubscribePattern("^a.*")
    assert options(subscribe="-", assign="{}").subscription == Assign(())


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"subscribe": "-"}, "One of the following options must be specified for Kafka source: subscribe, subscribePattern, assign."),
        ({"assign": "{}"}, "Only one of the following options can be specified for Kafka source:"),
        ({"subscribe": " ,,"}, "No topics to subscribe to as specified value for option 'subscribe' is ',,'"),
        (
            {"subscribe": "-", "subscribePattern": ""},
            "Pattern to subscribe is empty as specified value for option 'subscribePattern' is ''",
        ),
        ({"subscribe": "-", "subscribePattern": "a("}, "option 'subscribePattern': missing ), unterminated subpattern"),
        ({"subscribe": "-", "assign": "x"}, "No topicpartitions to assign as specified value for option 'assign' is 'x'"),
        ({"subscribe": "-", "assign": "[1]"}, "No topicpartitions to assign as specified value for option 'assign' is '[1]'"),
        ({"subscribe": "-", "assign": '{"a":1}'}, 'Expected e.g. {"topicA":[0,1],"topicB":[0,1]}, got {"a":1}'),
        ({"subscribe": "-", "assign": '{"a":[true]}'}, 'Expected e.g. {"topicA":[0,1],"topicB":[0,1]}, got {"a":[true]}'),
        ({"subscribe": "-", "assign": "{"}, 'Expected e.g. {"topicA":[0,1],"topicB":[0,1]}, got {'),
        ({"startingOffsets": "foo"}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got foo'),
        ({"startingOffsets": ""}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got '),
        ({"startingOffsets": "[]"}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got []'),
        ({"endingOffsets": '{"t":{"x":1}}'}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got {"t":{"x":1}}'),
        ({"endingOffsets": '{"t":[1]}'}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got {"t":[1]}'),
        ({"endingOffsets": '{"t":{"0":-3}}'}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got {"t":{"0":-3}}'),
        ({"includeHeaders": "abc"}, 'For input string: "abc"'),
        ({"kafka__request__timeout__ms": "abc"}, 'For input string: "abc"'),
        ({"kafka__request__timeout__ms": "0"}, "Invalid value 0 for option 'kafka.request.timeout.ms': Value must be at least 1"),
        ({"kafka__bootstrap__servers": "-"}, "Option 'kafka.bootstrap.servers' must be specified for configuring Kafka consumer"),
        ({"kafka__bootstrap__servers": " , "}, "No resolvable bootstrap urls given in kafka.bootstrap.servers: write host:port"),
        ({"kafka__bootstrap__servers": "a:1,b"}, "Invalid url in kafka.bootstrap.servers: b. Write host:port"),
        ({"kafka__bootstrap__servers": "a:x"}, "Invalid url in kafka.bootstrap.servers: a:x. Write host:port"),
        ({"kafka__isolation__level": "x"}, "String must be one of: read_committed, read_uncommitted"),
        ({"kafka__security__protocol": "TLS"}, "security.protocol must be one of PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, not TLS"),
        (
            {"kafka__auto__offset__reset": "latest"},
            "Kafka option 'kafka.auto.offset.reset' is not supported. Instead set the source option 'startingOffsets'",
        ),
        (
            {"kafka__key__deserializer": "x"},
            "Kafka option 'kafka.key.deserializer' is not supported as keys are deserialized as byte arrays with",
        ),
        (
            {"kafka__value__deserializer": "x"},
            "Kafka option 'kafka.value.deserializer' is not supported as values are deserialized as byte arrays",
        ),
        ({"kafka__enable__auto__commit": "true"}, "Kafka option 'kafka.enable.auto.commit' is not supported"),
        ({"kafka__interceptor__classes": "x"}, "Kafka option 'kafka.interceptor.classes' is not supported"),
    ],
)
def test_read_options_invalid_value_raises(values: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        options(**values)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"startingOffsets": "latest"}, "starting offset can't be latest for batch queries on Kafka"),
        ({"startingOffsets": '{"t":{"0":-1}}'}, "startingOffsets for t-0 can't be latest for batch queries on Kafka"),
        ({"endingOffsets": "earliest"}, "ending offset can't be earliest for batch queries on Kafka"),
        ({"endingOffsets": '{"t":{"0":-2}}'}, "ending offset for t-0 can't be earliest for batch queries on Kafka"),
    ],
)
def test_batch_options_invalid_bound_raises(values: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        batch_options(raw_options(**values))
    assert str(caught.value) == text


def test_batch_options_start_after_end_raises() -> None:
    with pytest.raises(KafkaCondition) as caught:
        batch_options(raw_options(startingOffsets='{"t":{"0":50}}', endingOffsets='{"t":{"0":10}}'))
    text = "The specified start offset 50 is greater than the end offset 10 for topic t partition 0."
    assert str(caught.value) == f"[UNRESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET] {text}"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.condition) == (str(caught.value), caught.value.condition)


@pytest.mark.parametrize(
    ("values", "starting"),
    [
        ({"startingTimestamp": "5", "startingOffsetsByTimestamp": "x", "startingOffsets": "x"}, Times(5, or_latest=False)),
        (
            {"startingOffsetsByTimestamp": '{"t":{"0":5,"1":6}}', "startingOffsets": "x"},
            Times({T0: 5, T1: 6}, or_latest=False),
        ),
        ({"startingTimestamp": " 5 ", "startingOffsetsByTimestampStrategy": "LATEST"}, Times(5, or_latest=True)),
        ({"startingOffsets": "EARLIEST", "startingOffsetsByTimestampStrategy": "x"}, EARLIEST),
    ],
)
def test_read_options_starting_bound(values: dict[str, str], starting: object) -> None:
    assert options(**values).starting == starting


@pytest.mark.parametrize(
    ("values", "ending"),
    [
        ({"endingTimestamp": "5", "endingOffsetsByTimestamp": "x", "endingOffsets": "x"}, Times(5, or_latest=True)),
        ({"endingOffsetsByTimestamp": '{"t":{"0":5}}', "endingOffsets": "x"}, Times({T0: 5}, or_latest=True)),
        ({"endingOffsets": "Latest "}, LATEST),
    ],
)
def test_read_options_ending_bound(values: dict[str, str], ending: object) -> None:
    assert options(**values).ending == ending


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"startingTimestamp": "abc"}, "Expected a single long value, got abc (option 'startingTimestamp')"),
        ({"endingTimestamp": "-1"}, "Expected a single long value, got -1 (option 'endingTimestamp')"),
        ({"startingTimestamp": str(1 << 63)}, "Expected a single long value, got 9223372036854775808"),
        ({"startingOffsetsByTimestamp": "earliest"}, 'Expected e.g. {"topicA": {"0": 123456789, "1": 123456789}, "topicB"'),
        ({"endingOffsetsByTimestamp": '{"t":{"0":true}}'}, "(option 'endingOffsetsByTimestamp')"),
        ({"startingTimestamp": "1", "startingOffsetsByTimestampStrategy": "foo"}, "No value found for 'FOO'"),
        ({"minPartitions": "0"}, "minPartitions must be positive"),
        ({"minPartitions": "abc"}, "For input string: \"abc\" (option 'minPartitions')"),
        ({"maxRecordsPerPartition": "-1"}, "maxRecordsPerPartition must be positive"),
        ({"maxRecordsPerPartition": "1.5"}, "For input string: \"1.5\" (option 'maxRecordsPerPartition')"),
        ({"kafka__fetch__max__bytes": "x"}, "For input string: \"x\" (option 'kafka.fetch.max.bytes')"),
    ],
)
def test_read_options_error_names_the_option(values: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        options(**values)
    assert text in str(caught.value)


def test_batch_options_ignore_triggers() -> None:
    assert batch_options(raw_options(maxOffsetsPerTrigger="x", minOffsetsPerTrigger="y", maxTriggerDelay="z")) == options()


def test_stream_options_start_and_trigger() -> None:
    read, trigger = stream_options(raw_options(endingTimestamp="5"))
    assert (read.starting, trigger) == (LATEST, NO_LIMIT)
    chosen = raw_options(startingOffsets="earliest", maxOffsetsPerTrigger="20", minOffsetsPerTrigger="10", maxTriggerDelay="1min")
    read, trigger = stream_options(chosen)
    assert (read.starting, trigger) == (EARLIEST, TriggerOptions(max_offsets=20, min_offsets=10, max_delay_ms=60_000))


@pytest.mark.parametrize(
    ("delay", "milliseconds"),
    [("6s", 6000), ("500", 500), ("20MS", 20), ("2m", 120_000), ("1h", 3_600_000), ("1d", 86_400_000), ("1500us", 1)],
)
def test_stream_options_trigger_delay_units(delay: str, milliseconds: int) -> None:
    assert stream_options(raw_options(maxTriggerDelay=delay))[1].max_delay_ms == milliseconds


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"endingOffsets": "latest"}, "ending offset not valid in streaming queries"),
        ({"endingOffsetsByTimestamp": "{}"}, "ending timestamp not valid in streaming queries"),
        (
            {"minOffsetsPerTrigger": "20", "maxOffsetsPerTrigger": "10"},
            "The value of minOffsetsPerTrigger(20) is higher than the maxOffsetsPerTrigger(10).",
        ),
        ({"maxOffsetsPerTrigger": "abc"}, "For input string: \"abc\" (option 'maxOffsetsPerTrigger')"),
        ({"maxTriggerDelay": "abc"}, "Time must be specified as"),
        ({"maxTriggerDelay": "5weeks"}, "got 5weeks (option 'maxTriggerDelay')"),
    ],
)
def test_stream_options_invalid_value_raises(values: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        stream_options(raw_options(**values))
    assert text in str(caught.value)


def test_warn_of_unknown_kafka_settings() -> None:
    warn_of_unknown(
        UserOptions(
            raw_options(kafka__max__poll__records="5", kafka__group__id="g", kafka__ssl__protocol="TLS", groupIdPrefix="p", other="x")
        )
    )
    with pytest.warns(UserWarning, match=r"^Kafka option 'kafka.fetch.max.byte' is not known here and has no effect$"):
        warn_of_unknown(UserOptions(raw_options(kafka__fetch__max__byte="5")))


@pytest.mark.parametrize(
    ("values", "directories"),
    [
        ({"path": "/kafka/data"}, ("/kafka/data",)),
        ({"path": "file:///kafka/data"}, ("/kafka/data",)),
        ({"PATH": "file:data"}, ("data",)),
        ({"paths": '["/one", "file:/two"]'}, ("/one", "/two")),
        ({"kafka__bootstrap__servers": "a:1"}, ()),
    ],
)
def test_read_options_directories(values: dict[str, str], directories: tuple[str, ...]) -> None:
    found = options(**{"kafka__bootstrap__servers": "-"} | values)

    assert found.directories == directories
    assert found.client.bootstrap_servers == (() if directories else (("a", 1),))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (
            {"path": "a", "kafka__bootstrap__servers": "a:1"},
            "Only one of the following options can be specified: path, kafka.bootstrap.servers",
        ),
        ({"path": "a", "paths": '["b"]'}, "Only one of the following options can be specified: path, paths"),
        ({"path": " "}, "Option 'path' is empty: give one of the log.dirs of a broker"),
        ({"paths": '["a", ""]'}, "Option 'path' is empty"),
        ({"paths": "a"}, """Expected e.g. ["a","b"], got a (option 'paths')"""),
        ({"paths": "[1]"}, """Expected e.g. ["a","b"], got [1] (option 'paths')"""),
        ({}, "Option 'kafka.bootstrap.servers' must be specified for configuring Kafka consumer"),
    ],
)
def test_read_options_directories_that_are_refused(values: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        options(**{"kafka__bootstrap__servers": "-"} | values)


def test_stream_options_of_directories_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Log directories cannot be read as a stream: use spark\.read"):
        stream_options(raw_options(kafka__bootstrap__servers="-", path="a"))
