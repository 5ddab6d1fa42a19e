"""Compares streams of Spark's own connector and odradek's source in one session: batches, errors and shared checkpoints."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions, NewTopic

from tests.spark import queries
from tests.spark.decoder_reference import Row
from tests.spark.kafka_topics import Broker, bodies, delete_before, new_topic, produce, transactions
from tests.spark.queries import Batch, Failure, place
from tests.spark.sources import OFFICIAL, OURS, official_wording, with_broker
from tests.spark.spark_process import SparkProcess

SOURCES = [OFFICIAL, OURS]
NOW = {"availableNow": True}
_names = (f"query-{number}" for number in itertools.count())


class Streams:
    """Runs a stream with both sources, each with a checkpoint of its own."""

    def __init__(self, session: SparkProcess, broker: Broker, directory: Path) -> None:
        self.session, self.broker, self.directory = session, broker, directory

    def run(self, source: str, options: dict[str, Any], *, checkpoint: str) -> list[Batch] | Failure:
        """Runs a stream with one source until it has read all available records."""
        return self.session.run(queries.run, source, next(_names), with_broker(self.broker, options), str(self.directory), NOW, checkpoint)

    def both(self, options: dict[str, Any], **trigger: Any) -> tuple[list[Batch] | Failure, list[Batch] | Failure]:
        asked = with_broker(self.broker, options)
        theirs, ours = self.session.run(queries.each, queries.run, SOURCES, next(_names), asked, str(self.directory), trigger or NOW)
        return theirs, ours

    def same(self, options: dict[str, Any], **trigger: Any) -> list[Batch]:
        """Runs the stream and checks that rows, starts and ends of batches are equal. Returns odradek's batches."""
        theirs, ours = self.both(options, **trigger)
        assert not isinstance(theirs, Failure) and not isinstance(ours, Failure), (theirs, ours)
        assert [(batch.start, batch.end) for batch in theirs] == [(batch.start, batch.end) for batch in ours]
        assert [batch.rows for batch in theirs] == [batch.rows for batch in ours]
        return ours

    def both_fail(self, options: dict[str, Any], text: str) -> None:
        for said, expected in zip(self.both(options), (official_wording(text), text), strict=True):
            assert isinstance(said, Failure) and expected in said.text, said.text


@pytest.fixture
def streams(comparison_session: SparkProcess, broker: Broker, tmp_path: Path) -> Streams:
    return Streams(comparison_session, broker, tmp_path)


@pytest.fixture
def our_streams(comparison_session: SparkProcess, cluster: Broker, tmp_path: Path) -> Streams:
    """Streams on the emulator only, for results that do not depend on the broker."""
    return Streams(comparison_session, cluster, tmp_path)


@pytest.fixture
def topic(cluster: Broker) -> str:
    """A topic with partitions of 100 and 900 records."""
    name = new_topic(cluster, 2)
    produce(cluster, name, bodies(100), 0)
    produce(cluster, name, bodies(900), 1)
    return name


def read_by(batches: list[Batch] | Failure) -> list[Row]:
    assert not isinstance(batches, Failure), batches
    return sorted((row for batch in batches for row in batch.rows), key=place)


def admin(broker: Broker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap_servers})


@pytest.mark.parametrize("limit", [300, 999, 5000, None])
def test_stream_available_now_batches(our_streams: Streams, topic: str, limit: int | None) -> None:
    limited = {} if limit is None else {"maxOffsetsPerTrigger": limit}
    batches = our_streams.same(
        {"subscribe": topic, "startingOffsets": "earliest", "includeHeaders": True, "minOffsetsPerTrigger": 1} | limited
    )
    assert len(read_by(batches)) == 1000
    assert len(batches) == {300: 4, 999: 2}.get(limit or 0, 1)


def test_stream_limit_reads_one_record_of_each_partition(streams: Streams, broker: Broker) -> None:
    topic = new_topic(broker, 2)
    produce(broker, topic, bodies(2), 0)
    produce(broker, topic, bodies(6), 1)
    batches = streams.same({"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": 1})
    assert [batch.end for batch in batches][:2] == [{topic: {"0": 1, "1": 1}}, {topic: {"0": 2, "1": 2}}]


def test_stream_once_ignores_limits(our_streams: Streams, topic: str) -> None:
    (batch,) = our_streams.same({"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": 10}, once=True)
    assert len(batch.rows) == 1000


@pytest.mark.parametrize(
    "start",
    [
        {"startingOffsets": '{"T":{"0":-1,"1":850}}'},
        {"startingOffsets": '{"T":{"0":-2,"1":-1}}'},
        {"startingTimestamp": 1_700_000_000_000 + 50 * 37},
        {"startingOffsetsByTimestamp": '{"T":{"0":-2,"1":1700000001000}}', "startingOffsets": "garbage"},
        {"startingTimestamp": 1_700_000_000_000 + 500 * 37, "startingOffsetsByTimestampStrategy": "latest"},
        {"startingOffsets": "earliest", "endingTimestamp": 1_700_000_000_100},
    ],
)
def test_stream_starting_options(our_streams: Streams, topic: str, start: dict[str, Any]) -> None:
    named = {name: str(value).replace('"T"', f'"{topic}"') for name, value in start.items()}
    (batch,) = our_streams.same({"subscribe": topic} | named)
    assert 0 < len(batch.rows) <= 1000


def test_stream_latest_runs_an_empty_batch_first(streams: Streams, broker: Broker) -> None:
    """A new stream runs an empty batch, so that its checkpoint contains the offset."""
    topic = new_topic(broker, 2)
    produce(broker, topic, bodies(10), 1)
    options = {"subscribe": topic}
    assert [len(batch.rows) for batch in streams.same(options)] == [0]
    written = produce(broker, topic, bodies(5))
    assert [len(batch.rows) for batch in streams.same(options)] == [len(written)]
    assert streams.same(options) == []


def test_stream_min_partitions_splits_equally(our_streams: Streams, topic: str) -> None:
    theirs, ours = our_streams.both({"subscribe": topic, "startingOffsets": "earliest", "minPartitions": 5, "maxOffsetsPerTrigger": 500})
    assert not isinstance(theirs, Failure) and not isinstance(ours, Failure), (theirs, ours)
    assert [sorted(batch.tasks) for batch in theirs] == [sorted(batch.tasks) for batch in ours]


def test_stream_transactions(streams: Streams, broker: Broker) -> None:
    """Offsets of markers and aborted records count, so some batches have no rows."""
    topic = new_topic(broker)
    transactions(broker, topic, [2, 4, 1], commit=lambda number: number != 1)
    limited = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": 3}
    batches = streams.same(limited | {"kafka.isolation.level": "read_committed"})
    assert len(read_by(batches)) == 3
    assert [] in [batch.rows for batch in batches]


def live(streams: Streams, source: str, options: dict[str, Any], steps: list[Any]) -> list[Row]:
    """Returns the rows that a running stream reads while the steps are run one after the other."""
    name, checkpoint = next(_names), str(streams.directory / f"live-{source}")
    assert streams.session.run(queries.start, source, name, with_broker(streams.broker, options), checkpoint) is None
    rows: list[Row] = []
    try:
        for step in [lambda: None, *steps]:
            step()
            rows += read_by(streams.session.run(queries.settle, name))
    finally:
        streams.session.run(queries.stop, name)
    return rows


@pytest.mark.parametrize("source", [OURS])
def test_stream_new_partitions_and_topics_from_their_start(streams: Streams, broker: Broker, source: str) -> None:
    first, second = (f"live-{source}-{n}-{next(_names)}" for n in (1, 2))
    written: list[Row] = []

    def make(topic: str) -> None:
        admin(broker).create_topics([NewTopic(topic, 1)])[topic].result(10)

    def fill(topic: str, partition: int) -> None:
        written.extend(produce(broker, topic, bodies(10), partition))

    def widen(topic: str) -> None:
        client = admin(broker)
        client.create_partitions([NewPartitions(topic, 2)])[topic].result(10)
        fill(topic, 1)

    def another() -> None:
        client = admin(broker)
        client.create_topics([NewTopic(second, 1)])[second].result(10)
        fill(second, 0)

    client = admin(broker)
    client.create_topics([NewTopic(first, 1)])[first].result(10)
    produce(broker, first, bodies(10), 0)  # before the stream, which starts at the end
    steps = [lambda: fill(first, 0), lambda: widen(first), another]
    options = {"subscribePattern": f"^live-{source}-", "includeHeaders": True}
    expect_new = {"kafka.metadata.max.age.ms": 100}
    assert sorted(live(streams, source, options | expect_new, steps), key=place) == sorted(written, key=place)


@pytest.mark.parametrize(
    "order", [[OFFICIAL, OURS, OFFICIAL, OURS], [OURS, OFFICIAL, OURS, OFFICIAL]], ids=["official first", "ours first"]
)
def test_stream_sources_alternate_on_one_checkpoint(streams: Streams, broker: Broker, order: list[str]) -> None:
    topic = new_topic(broker, 2)
    options = {"subscribe": topic, "startingOffsets": "earliest", "maxOffsetsPerTrigger": 70, "includeHeaders": True}
    written: list[Row] = []
    found: list[Row] = []
    for source in order:
        written += produce(broker, topic, bodies(60), 0) + produce(broker, topic, bodies(40), 1)
        found += read_by(streams.run(source, options, checkpoint="shared"))
    assert sorted(found, key=place) == sorted(written, key=place)


@pytest.mark.parametrize("source", SOURCES)
def test_stream_takes_over_a_checkpoint_at_the_end(streams: Streams, broker: Broker, source: str) -> None:
    """A checkpoint made at the end of the log: the other source reads later records only."""
    other = SOURCES[1 - SOURCES.index(source)]
    topic = new_topic(broker, 2)
    produce(broker, topic, bodies(20), 1)
    assert read_by(streams.run(source, {"subscribe": topic}, checkpoint="shared")) == []
    written = produce(broker, topic, bodies(30), 0) + produce(broker, topic, bodies(30), 1)
    assert read_by(streams.run(other, {"subscribe": topic, "includeHeaders": True}, checkpoint="shared")) == written


def test_stream_partition_added_between_runs(streams: Streams, broker: Broker) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(5))
    options = {"subscribe": topic, "startingOffsets": "earliest"}
    assert len(read_by(streams.same(options))) == 5
    client = admin(broker)
    client.create_partitions([NewPartitions(topic, 3)])[topic].result(10)
    produce(broker, topic, bodies(7), 1)
    assert len(read_by(streams.same(options))) == 7
    produce(broker, topic, bodies(6), 2)
    assert len(read_by(streams.same(options))) == 6


def test_stream_added_partition_without_its_first_records(streams: Streams, broker: Broker) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(5))
    options = {"subscribe": topic, "startingOffsets": "earliest"}
    streams.same(options)
    client = admin(broker)
    client.create_partitions([NewPartitions(topic, 2)])[topic].result(10)
    produce(broker, topic, bodies(7), 1)
    delete_before(broker, topic, 3, 1)
    streams.both_fail(options, f"Added partition {topic}-1 starts from 3 instead of 0.")
    assert len(read_by(streams.same(options | {"failOnDataLoss": False}))) == 4


def test_stream_records_deleted_before_they_are_read(streams: Streams, broker: Broker) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(20))
    options = {"subscribe": topic, "startingOffsets": "earliest"}
    streams.same(options)
    produce(broker, topic, bodies(20), **{"batch.num.messages": 5})
    delete_before(broker, topic, 30)
    streams.both_fail(options, f"Could not read records in offset [20, 40) for topic partition {topic}-0")
    assert len(read_by(streams.same(options | {"failOnDataLoss": False}))) == 10


def recreate(broker: Broker, topic: str, count: int) -> None:
    client = admin(broker)
    client.delete_topics([topic])[topic].result(10)
    while topic in client.list_topics(timeout=10).topics:
        pass
    client.create_topics([NewTopic(topic, 1)])[topic].result(10)
    produce(broker, topic, bodies(count))


def test_stream_recreated_topic(streams: Streams, broker: Broker) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(20))
    options = {"subscribe": topic, "startingOffsets": "earliest"}
    streams.same(options)
    recreate(broker, topic, 5)
    streams.both_fail(options, f"Partition {topic}-0 offset was changed from 20 to 5.")
    streams.same(options | {"failOnDataLoss": False})
    produce(broker, topic, bodies(4))
    assert [row.offset for row in read_by(streams.same(options | {"failOnDataLoss": False}))] == [5, 6, 7, 8]


def test_stream_deleted_topic(streams: Streams, broker: Broker) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(20))
    options = {"subscribe": topic, "startingOffsets": "earliest"}
    streams.same(options)
    client = admin(broker)
    client.delete_topics([topic])[topic].result(10)
    streams.both_fail(options, "This server does not host this topic-partition.")
    streams.both_fail(options | {"failOnDataLoss": False}, "This server does not host this topic-partition.")


def test_stream_subscription_changed_between_runs(streams: Streams, broker: Broker) -> None:
    one, two = new_topic(broker), new_topic(broker)
    produce(broker, one, bodies(3))
    streams.same({"subscribe": one, "startingOffsets": "earliest"})
    produce(broker, two, bodies(4))
    assert len(read_by(streams.same({"subscribe": f"{one},{two}", "includeHeaders": True}))) == 4
    produce(broker, one, bodies(5))
    assert len(read_by(streams.same({"subscribePattern": f"^({one}|{two})$"}))) == 5
    produce(broker, one, bodies(5))
    streams.both_fail({"subscribe": one}, f"Partitions Set({two}-0) have been deleted.")
    streams.both_fail({"subscribe": f"{one},{two}"}, f"Partitions Set({two}-0) have been deleted.")  # the batch that failed stays


WRONG_TO_LOAD: list[tuple[dict[str, Any], str]] = [
    ({}, "One of the following options must be specified for Kafka source: subscribe, subscribePattern, assign."),
    ({"subscribe": "T", "assign": "{}"}, "Only one of the following options can be specified for Kafka source:"),
    ({"endingOffsets": "latest"}, "ending offset not valid in streaming queries"),
    ({"endingOffsetsByTimestamp": "{}"}, "ending timestamp not valid in streaming queries"),
    (
        {"minOffsetsPerTrigger": 20, "maxOffsetsPerTrigger": 10},
        "The value of minOffsetsPerTrigger(20) is higher than the maxOffsetsPerTrigger(10).",
    ),
    ({"minPartitions": 0}, "minPartitions must be positive"),
    ({"kafka.enable.auto.commit": "true"}, "Kafka option 'kafka.enable.auto.commit' is not supported"),
]
WRONG_TO_RUN: list[tuple[dict[str, Any], str]] = [
    ({"maxTriggerDelay": "abc", "minOffsetsPerTrigger": 5}, "Time must be specified as"),
    ({"startingOffsets": "foo"}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got foo'),
    ({"startingOffsets": '{"T":{"0":0}}'}, "If startingOffsets contains specific offsets, you must specify all TopicPartitions."),
    ({"startingOffsets": '{"T":{"0":500,"1":0}}'}, "Partition T-0 offset was changed from 500 to 100."),
    ({"startingTimestamp": 1_700_000_018_500}, "No offset matched from request of topic-partition T-0 and timestamp 1700000018500."),
    ({"subscribe": "nosuch"}, "This server does not host this topic-partition."),
]


@pytest.mark.parametrize(("options", "text"), WRONG_TO_LOAD + WRONG_TO_RUN, ids=str)
def test_stream_errors(our_streams: Streams, topic: str, options: dict[str, Any], text: str) -> None:
    named = {name: str(value).replace('"T"', f'"{topic}"') for name, value in options.items()}
    chosen = {} if not options or options.keys() & {"subscribe", "assign"} else {"subscribe": topic}
    our_streams.both_fail(chosen | named, text.replace("T-", f"{topic}-"))
