"""Compares batch reads of Spark's own connector and odradek's source in one session: rows, tasks and error texts."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.spark.kafka_topics import Broker, bodies, compacted, delete_before, new_topic, produce, transactions
from tests.spark.queries import Failure, Read, each, read
from tests.spark.sources import OFFICIAL, OURS, official_wording, with_broker
from tests.spark.spark_process import SparkProcess

FIRST_MS, STEP_MS = 1_700_000_000_000, 37
"""Timestamps of the produced records: the first, and the step between two."""


def both_read(session: SparkProcess, broker: Broker, **options: Any) -> tuple[Read | Failure, Read | Failure]:
    """Reads with both sources. Returns (the official connector's result, odradek's)."""
    theirs, ours = session.run(each, read, [OFFICIAL, OURS], with_broker(broker, options))
    return theirs, ours


def same(session: SparkProcess, broker: Broker, **options: Any) -> Read:
    """Reads with both sources and compares schema and rows. Returns odradek's result."""
    theirs, ours = both_read(session, broker, **options)
    assert isinstance(theirs, Read), theirs
    assert isinstance(ours, Read), ours
    assert theirs.rows == ours.rows
    assert theirs.schema == ours.schema
    return ours


def test_batch_all_record_shapes(comparison_session: SparkProcess, broker: Broker) -> None:
    topic = new_topic(broker, 3)
    written = produce(broker, topic, bodies(200), 0) + produce(broker, topic, bodies(100), 2, **{"batch.num.messages": 9})
    assert same(comparison_session, broker, subscribe=topic, includeHeaders=True).rows == written


def test_batch_codecs(comparison_session: SparkProcess, broker: Broker) -> None:
    topic = new_topic(broker)
    codecs = ["gzip", "snappy", "lz4", "zstd", "none"]
    written = [row for codec in codecs for row in produce(broker, topic, bodies(60), **{"compression.type": codec})]
    assert same(comparison_session, broker, subscribe=topic, includeHeaders=True).rows == written


def test_batch_log_append_time(comparison_session: SparkProcess, broker: Broker) -> None:
    topic = new_topic(broker, message_timestamp_type="LogAppendTime")
    produce(broker, topic, bodies(50), **{"compression.type": "lz4"})
    produce(broker, topic, bodies(50))
    assert {row.timestamp_type for row in same(comparison_session, broker, subscribe=topic).rows} == {1}


def test_batch_transactions(comparison_session: SparkProcess, broker: Broker) -> None:
    topic = new_topic(broker)
    transactions(broker, topic, [5, 7, 1, 30, 2], commit=lambda number: number % 2 == 0)
    assert len(same(comparison_session, broker, subscribe=topic).rows) == 45
    committed = {"subscribe": topic, "kafka.isolation.level": "read_committed"}
    assert len(same(comparison_session, broker, **committed).rows) == 8
    only_aborted = {"startingOffsets": f'{{"{topic}":{{"0":7}}}}', "endingOffsets": f'{{"{topic}":{{"0":12}}}}'}
    assert same(comparison_session, broker, **committed, **only_aborted).rows == []


def test_batch_open_transaction(comparison_session: SparkProcess, broker: Broker) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(4))
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce(topic, b"open")
    assert producer.flush(20) == 0
    committed = {"subscribe": topic, "kafka.isolation.level": "read_committed"}
    assert len(same(comparison_session, broker, **committed).rows) == 4
    assert len(same(comparison_session, broker, subscribe=topic).rows) == 5
    beyond = both_read(comparison_session, broker, **committed, endingOffsets=f'{{"{topic}":{{"0":5}}}}')
    assert all(isinstance(said, Failure) and f"in offset [4, 5) for topic partition {topic}-0" in said.text for said in beyond), beyond
    producer.abort_transaction(20)


def test_batch_compacted_topic(comparison_session: SparkProcess, broker: Broker) -> None:
    topic = compacted(broker)
    rows = same(comparison_session, broker, subscribe=topic).rows
    assert 0 < len(rows) < 60
    same(comparison_session, broker, subscribe=topic, startingOffsets=f'{{"{topic}":{{"0":1}}}}', endingOffsets=f'{{"{topic}":{{"0":30}}}}')


@cache
def _hundreds(bootstrap_servers: str) -> str:
    """Creates a topic with partitions of 100 and 900 records, once for each broker."""
    broker = _Address(bootstrap_servers)
    topic = new_topic(broker, 2)
    produce(broker, topic, bodies(100), 0)
    produce(broker, topic, bodies(900), 1)
    return topic


class _Address:
    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers


@pytest.fixture
def hundreds(broker: Broker) -> str:
    return _hundreds(broker.bootstrap_servers)


@pytest.fixture
def our_hundreds(cluster: Broker) -> str:
    return _hundreds(cluster.bootstrap_servers)


def at(number: float) -> int:
    """Returns the timestamp of record `number`; a fraction lies between two records."""
    return FIRST_MS + int(number * STEP_MS)


RANGES: dict[str, dict[str, Any]] = {
    "names do not depend on case": {"startingoffsets": " Earliest ", "ENDINGOFFSETS": "LATEST"},
    "sentinels": {"startingOffsets": '{"T":{"0":-2,"1":-2}}', "endingOffsets": '{"T":{"0":-1,"1":-1}}'},
    "offsets": {"startingOffsets": '{"T":{"0":10,"1":850}}', "endingOffsets": '{"T":{"0":20,"1":-1}}'},
    "nothing": {"startingOffsets": '{"T":{"0":100,"1":7}}', "endingOffsets": '{"T":{"0":100,"1":7}}'},
    "startingTimestamp of a record": {"startingTimestamp": at(50)},
    "startingTimestamp between records": {"startingTimestamp": at(50.5)},
    "startingTimestamp before all": {"startingTimestamp": 1},
    "a partition has nothing so late": {"startingTimestamp": at(500), "startingOffsetsByTimestampStrategy": "latest"},
    "the strategy's case": {"startingTimestamp": at(500), "startingOffsetsByTimestampStrategy": "LATEST"},
    "times of partitions": {"startingOffsetsByTimestamp": f'{{"T":{{"0":{at(99)},"1":{at(899)}}}}}'},
    "times that are sentinels": {"startingOffsetsByTimestamp": f'{{"T":{{"0":-2,"1":{at(899)}}}}}'},
    "startingTimestamp beats all": {
        "startingTimestamp": at(60),
        "startingOffsetsByTimestamp": "garbage",
        "startingOffsets": "garbage",
    },
    "times beat offsets": {"startingOffsetsByTimestamp": f'{{"T":{{"0":{at(1)},"1":{at(2)}}}}}', "startingOffsets": "garbage"},
    "endingTimestamp of a record": {"endingTimestamp": at(50)},
    "endingTimestamp between records": {"endingTimestamp": at(50.5)},
    "endingTimestamp after all": {"endingTimestamp": at(5000)},
    "endingTimestamp beats all": {"endingTimestamp": at(60), "endingOffsetsByTimestamp": "garbage", "endingOffsets": "garbage"},
    "ending times of partitions": {"endingOffsetsByTimestamp": f'{{"T":{{"0":{at(99)},"1":{at(899)}}}}}', "endingOffsets": "garbage"},
    "between two times": {"startingTimestamp": at(20), "endingTimestamp": at(80)},
    "between a time and an offset": {"startingTimestamp": at(20), "endingOffsets": '{"T":{"0":30,"1":40}}'},
    "options of streams": {"maxOffsetsPerTrigger": "many", "maxTriggerDelay": "abc"},
    "a group": {"kafka.group.id": "some-group", "groupIdPrefix": "prefix"},
    "unknown options": {"nosuch": 1, "kafka.nosuch": "x"},
}


def of(topic: str, options: dict[str, Any]) -> dict[str, Any]:
    return {name: str(value).replace('"T"', f'"{topic}"') for name, value in options.items()}


@pytest.mark.parametrize("case", RANGES)
def test_batch_ranges(comparison_session: SparkProcess, broker: Broker, hundreds: str, case: str) -> None:
    same(comparison_session, broker, subscribe=hundreds, **of(hundreds, RANGES[case]))


def test_batch_subscriptions(comparison_session: SparkProcess, broker: Broker) -> None:
    one, two = new_topic(broker, 2), new_topic(broker)
    for topic, partition in [(one, 0), (one, 1), (two, 0)]:
        produce(broker, topic, bodies(20), partition)
    assert len(same(comparison_session, broker, subscribe=f" {one}, {two},,{one}").rows) == 60
    assert len(same(comparison_session, broker, subscribePattern=f"^({one}|{two})$").rows) == 60
    assert len(same(comparison_session, broker, subscribePattern=f"{two[1:]}$").rows) == 20
    assert len(same(comparison_session, broker, subscribePattern="^nosuch").rows) == 0
    assert len(same(comparison_session, broker, assign=f'{{"{one}":[1],"{two}":[0]}}').rows) == 40
    assert len(same(comparison_session, broker, assign=f'{{"{one}":[1,5]}}').rows) == 20
    assert len(same(comparison_session, broker, assign="{}").rows) == 0
    assert len(same(comparison_session, broker, subscribe=new_topic(broker, 4)).rows) == 0


EXPLICIT = {"startingOffsets": '{"T":{"0":0,"1":0}}', "endingOffsets": '{"T":{"0":100,"1":900}}'}
SPLITS: dict[str, dict[str, Any]] = {
    "minPartitions 3": {"minPartitions": 3},
    "minPartitions 5": {"minPartitions": 5},
    "minPartitions 10": {"minPartitions": 10},
    "minPartitions 10 of offsets": {"minPartitions": 10, **EXPLICIT},
    "minPartitions 1": {"minPartitions": 1},
    "maxRecordsPerPartition 100": {"maxRecordsPerPartition": 100, **EXPLICIT},
    "maxRecordsPerPartition 99": {"maxRecordsPerPartition": 99, **EXPLICIT},
    "maxRecordsPerPartition 250": {"maxRecordsPerPartition": 250, **EXPLICIT},
    "both, 50": {"minPartitions": 10, "maxRecordsPerPartition": 50},
    "both, 500": {"minPartitions": 10, "maxRecordsPerPartition": 500},
}


@pytest.mark.parametrize("case", SPLITS)
def test_batch_splits(comparison_session: SparkProcess, cluster: Broker, our_hundreds: str, case: str) -> None:
    theirs, ours = both_read(comparison_session, cluster, subscribe=our_hundreds, **of(our_hundreds, SPLITS[case]))
    assert isinstance(theirs, Read) and isinstance(ours, Read), (theirs, ours)
    assert sorted(theirs.tasks) == sorted(ours.tasks)


def test_batch_small_partitions_share_a_task(comparison_session: SparkProcess, cluster: Broker, our_hundreds: str) -> None:
    """Small partitions share a task in odradek's source."""
    theirs, ours = both_read(comparison_session, cluster, subscribe=our_hundreds)
    assert isinstance(theirs, Read) and isinstance(ours, Read)
    assert (len(theirs.tasks), len(ours.tasks)) == (2, 1)
    assert [sorted(part for task in read.tasks for part in task) for read in (theirs, ours)] == [
        [(our_hundreds, 0, 0, 99), (our_hundreds, 1, 0, 899)]
    ] * 2


def test_batch_max_records_per_partition_splits_more(comparison_session: SparkProcess, cluster: Broker, our_hundreds: str) -> None:
    """The official connector does not split, because it compares sizes before it has resolved the ends; odradek does."""
    theirs, ours = both_read(comparison_session, cluster, subscribe=our_hundreds, maxRecordsPerPartition=100)
    assert isinstance(theirs, Read) and isinstance(ours, Read)
    assert (len(theirs.tasks), len(ours.tasks)) == (2, 10)
    assert theirs.rows == ours.rows


WRONG_TO_LOAD: list[tuple[dict[str, Any], str]] = [
    ({}, "One of the following options must be specified for Kafka source: subscribe, subscribePattern, assign."),
    ({"subscribe": "T", "assign": "{}"}, "Only one of the following options can be specified for Kafka source:"),
    ({"subscribe": ""}, "No topics to subscribe to as specified value for option 'subscribe' is ''"),
    ({"subscribe": " "}, "No topics to subscribe to as specified value for option 'subscribe' is '"),
    ({"subscribe": ",,"}, "No topics to subscribe to as specified value for option 'subscribe' is"),
    ({"subscribePattern": ""}, "Pattern to subscribe is empty as specified value for option 'subscribePattern' is ''"),
    ({"assign": "x"}, "No topicpartitions to assign as specified value for option 'assign' is 'x'"),
    ({"assign": "[1]"}, "No topicpartitions to assign as specified value for option 'assign' is '[1]'"),
    ({"assign": '{"a":1}'}, 'Expected e.g. {"topicA":[0,1],"topicB":[0,1]}, got {"a":1}'),
    ({"startingOffsets": "foo"}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got foo'),
    ({"startingOffsets": ""}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got'),
    ({"endingOffsets": "foo"}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got foo'),
    ({"startingOffsets": "latest"}, "starting offset can't be latest for batch queries on Kafka"),
    ({"startingOffsets": '{"T":{"0":-1,"1":0}}'}, "startingOffsets for T-0 can't be latest for batch queries on Kafka"),
    ({"endingOffsets": "earliest"}, "ending offset can't be earliest for batch queries on Kafka"),
    ({"endingOffsets": '{"T":{"0":-2,"1":0}}'}, "ending offset for T-0 can't be earliest"),
    ({"startingTimestamp": "abc"}, "Expected a single long value, got abc"),
    ({"endingTimestamp": "abc"}, "Expected a single long value, got abc"),
    ({"startingOffsetsByTimestamp": "earliest"}, 'Expected e.g. {"topicA": {"0": 123456789, '),
    ({"startingTimestamp": 1, "startingOffsetsByTimestampStrategy": "FOO"}, "No value found for 'FOO'"),
    ({"minPartitions": 0}, "minPartitions must be positive"),
    ({"maxRecordsPerPartition": -1}, "maxRecordsPerPartition must be positive"),
    ({"minPartitions": "abc"}, 'For input string: "abc"'),
    ({"failOnDataLoss": "abc"}, 'For input string: "abc"'),
    ({"includeHeaders": "abc"}, 'For input string: "abc"'),
    ({"kafka.auto.offset.reset": "earliest"}, "Kafka option 'kafka.auto.offset.reset' is not supported. Instead set the source"),
    ({"kafka.key.deserializer": "x"}, "Kafka option 'kafka.key.deserializer' is not supported as keys are deserialized as"),
    ({"kafka.value.deserializer": "x"}, "Kafka option 'kafka.value.deserializer' is not supported as values are deserialized as"),
    ({"kafka.enable.auto.commit": "true"}, "Kafka option 'kafka.enable.auto.commit' is not supported"),
    ({"kafka.interceptor.classes": "x"}, "Kafka option 'kafka.interceptor.classes' is not supported"),
    (
        {"startingOffsets": '{"T":{"0":50,"1":0}}', "endingOffsets": '{"T":{"0":10,"1":0}}'},
        "The specified start offset 50 is greater than the end offset 10 for topic T partition 0.",
    ),
]  # fmt: skip
WRONG_TO_READ: list[tuple[dict[str, Any], str]] = [
    ({"startingOffsets": '{"T":{"0":0}}'}, "KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED"),
    ({"endingOffsets": '{"T":{"0":0}}'}, "Specified: Set(T-0) Assigned: Set(T-0, T-1)"),
    ({"startingOffsetsByTimestamp": '{"T":{"0":1}}'}, "KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED"),
    ({"startingOffsetsByTimestamp": '{"T":{"0":1}}'}, "Specified: Set(T-0) Assigned: Set(T-0, T-1)"),
    ({"startingTimestamp": at(500)}, f"No offset matched from request of topic-partition T-0 and timestamp {at(500)}."),
    ({"startingOffsets": '{"T":{"0":500,"1":0}}'}, "start offset 500 is greater than the resolved end offset 100 for topic T partition 0."),
    ({"endingOffsets": '{"T":{"0":200,"1":0}}'}, "Could not read records in offset [100, 200) for topic partition T-0"),
    (
        {"startingOffsets": '{"T":{"0":300,"1":0}}', "endingOffsets": '{"T":{"0":400,"1":0}}'},
        "Could not read records in offset [300, 400) for topic partition T-0",
    ),
    ({"subscribe": "nosuch"}, "This server does not host this topic-partition."),
    ({"subscribe": "T,nosuch"}, "This server does not host this topic-partition."),
]  # fmt: skip


@pytest.mark.parametrize(("options", "text"), WRONG_TO_LOAD, ids=[f"{options}"[:60] for options, _ in WRONG_TO_LOAD])
def test_batch_load_errors(
    comparison_session: SparkProcess, cluster: Broker, our_hundreds: str, options: dict[str, Any], text: str
) -> None:
    theirs, ours = both_fail(comparison_session, cluster, our_hundreds, options, text)
    batch_only = "for batch queries" in theirs.text or "The specified start offset" in theirs.text
    # When a frame is loaded, odradek's source cannot tell a batch from a stream.
    assert (theirs.at_once, ours.at_once) == (True, not batch_only)


@pytest.mark.parametrize(("options", "text"), WRONG_TO_READ, ids=[f"{options}"[:60] for options, _ in WRONG_TO_READ])
def test_batch_read_errors(comparison_session: SparkProcess, broker: Broker, hundreds: str, options: dict[str, Any], text: str) -> None:
    theirs, ours = both_fail(comparison_session, broker, hundreds, options, text)
    assert not theirs.at_once and not ours.at_once


def both_fail(session: SparkProcess, broker: Broker, topic: str, options: dict[str, Any], text: str) -> tuple[Failure, Failure]:
    """Checks that both errors contain the text, in which T stands for the topic."""
    named = {name: str(value).replace('"T"', f'"{topic}"').replace("T,", f"{topic},") for name, value in options.items()}
    chosen = {"subscribe": topic} if options and not options.keys() & {"subscribe", "assign", "subscribePattern"} else {}
    theirs, ours = both_read(session, broker, **chosen, **named)
    expected = text.replace("T-", f"{topic}-").replace("topic T ", f"topic {topic} ")
    assert isinstance(theirs, Failure) and official_wording(expected) in theirs.text, theirs
    assert isinstance(ours, Failure) and expected in ours.text, ours
    return theirs, ours


@pytest.mark.parametrize(
    "options",
    [
        {"endingOffsets": '{"T":{"0":200,"1":0}}'},
        {"startingOffsets": '{"T":{"0":300,"1":0}}', "endingOffsets": '{"T":{"0":400,"1":5}}'},
    ],
)
def test_batch_offsets_beyond_the_log_are_tolerated(
    comparison_session: SparkProcess, broker: Broker, hundreds: str, options: dict[str, Any]
) -> None:
    same(comparison_session, broker, subscribe=hundreds, failOnDataLoss=False, **of(hundreds, options))


def test_batch_deleted_records(comparison_session: SparkProcess, broker: Broker) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(40), **{"batch.num.messages": 10})
    delete_before(broker, topic, 20)
    assert len(same(comparison_session, broker, subscribe=topic).rows) == 20
    early = {"subscribe": topic, "startingOffsets": f'{{"{topic}":{{"0":10}}}}'}
    for said in both_read(comparison_session, broker, **early):
        assert isinstance(said, Failure) and f"Could not read records in offset [10, 40) for topic partition {topic}-0" in said.text
        assert "KAFKA_DATA_LOSS" in said.text
    assert len(same(comparison_session, broker, failOnDataLoss=False, **early).rows) == 20
