"""Topics with schema validation refuse records without a known schema, also in requests that repeat."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic  # type: ignore[attr-defined]

from odradek import Cluster
from odradek.broker.appending.batch_checks import RECORDS_PER_SLICE, SchemaRules
from odradek.broker.appending.schema_ids import MAX_ERRORS, check_schemas
from odradek.protocol.batches import records
from odradek.protocol.batches.checks import RejectedRecords
from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceResponse
from tests.broker.harness import Client, World, a_batch, produce_request

TOPIC = "io.confluent.kafka.serializers.subject.TopicNameStrategy"
RECORD, TOPIC_RECORD = TOPIC.replace("TopicName", "RecordName"), TOPIC.replace("TopicName", "TopicRecordName")
SUBJECTS = {1: ["orders-value"], 2: ["orders-key", "other-value"], 3: ["orders-shop.Order"], 4: ["shop.Order"]}
VALUES = SchemaRules(None, TOPIC)


def framed(schema_id: int) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + b"\2"


def refusals(rules: SchemaRules, *records: tuple[bytes | None, bytes | None], **batch: Any) -> list[tuple[int, str]]:
    """Returns the errors for the keys and values of a batch."""
    built = build_batch([Record(number, 0, key, value, []) for number, (key, value) in enumerate(records)], **batch)
    try:
        check_schemas(memoryview(built), "orders", rules, lambda schema_id: SUBJECTS.get(schema_id, ()))
    except RejectedRecords as rejected:
        assert rejected.error_code == ErrorCode.INVALID_RECORD
        return list(rejected.record_errors)
    return []


def test_known_schemas_null_and_keys_pass() -> None:
    assert refusals(VALUES, (b"any", framed(1)), (None, None), (framed(9), framed(1))) == []
    assert refusals(SchemaRules(TOPIC, None), (framed(2), b"any")) == []


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP])
def test_each_refused_record_is_named(compression: Compression) -> None:
    assert refusals(VALUES, (None, framed(1)), (None, framed(9)), (None, b"{}"), (None, framed(2)), compression=compression) == [
        (1, "the value has the schema id 9, which the schema registry does not have"),
        (2, "the value does not begin with the byte 0 and a schema id, which confluent.value.schema.validation requires"),
        (3, "the value has the schema id 2, which is not registered for the subject orders-value"),
    ]


@pytest.mark.parametrize("value", [b"", b"\0", b"\0\0\0\0", b"\1\0\0\0\1\2"])
def test_value_without_an_id_is_refused(value: bytes) -> None:
    assert len(refusals(VALUES, (None, value))) == 1


@pytest.mark.parametrize(("strategy", "accepted"), [(TOPIC, [1]), (RECORD, [1, 2, 3, 4]), (TOPIC_RECORD, [1, 2, 3])])
def test_strategy_decides_which_subjects_fit(strategy: str, accepted: list[int]) -> None:
    rules = SchemaRules(None, strategy)
    assert [schema_id for schema_id in (*SUBJECTS, 9) if not refusals(rules, (None, framed(schema_id)))] == accepted


def alter(cluster: Cluster, name: str, value: str) -> None:
    """Changes a setting of the topic."""
    entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, "orders", incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    admin.incremental_alter_configs([resource])[resource].result(10)


def test_topic_refuses_values_while_its_setting_is_on() -> None:
    with Cluster(nodes=1) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_topics([NewTopic("orders", 1, 1, config={"confluent.value.schema.validation": "true"})])["orders"].result(10)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})

        def send(*values: bytes) -> list[Any]:
            results: list[Any] = []
            for value in values:
                producer.produce("orders", value, on_delivery=lambda error, _: results.append(error and error.name()))
                assert producer.flush(30) == 0
            return results

        assert send(framed(1)) == ["INVALID_RECORD"]
        assert cluster.schemas.register("orders-value", '"long"').id == 1
        assert send(*[framed(1)] * 4, framed(2), framed(1)) == [*[None] * 4, "INVALID_RECORD", None]
        alter(cluster, "confluent.value.schema.validation", "false")
        assert send(*[b"plain"] * 4) == [None] * 4
        alter(cluster, "confluent.value.schema.validation", "true")
        assert send(b"plain", framed(1)) == ["INVALID_RECORD", None]
        state = cluster.snapshot()
        cluster.restore(state)
        assert send(framed(1), framed(3)) == [None, "INVALID_RECORD"]


# Batches that are checked in slices

MANY = 4000
GOOD = [framed(1)] * MANY


@pytest.fixture
def world() -> World:
    world = World(nodes=1, stepwise=True)
    world.cluster.topics.create("orders", 2, configs={"confluent.value.schema.validation": "true"})
    world.cluster.subjects_of_schema = lambda schema_id: SUBJECTS.get(schema_id, ())
    return world


def begin(world: World, values: list[bytes], *, partition: int = 0, **options: Any) -> Client:
    client = world.client()
    client.send(PRODUCE, 9, produce_request("orders", a_batch(*values, **options), partition=partition))
    return client


def finish(world: World, *clients: Client) -> tuple[list[PartitionProduceResponse], list[int]]:
    """Returns the answers to requests, and for each turn the records that were checked in it."""
    counts: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        read = records._read_record

        def count(*arguments: Any) -> Any:
            counts[-1] += 1
            return read(*arguments)

        patch.setattr(records, "_read_record", count)
        while world.turns.has_more:
            counts.append(0)
            world.turn()
    return [client.receive().responses[0].partition_responses[0] for client in clients], counts


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.ZSTD])
def test_large_batch_is_checked_in_slices(world: World, compression: Compression) -> None:
    client = begin(world, GOOD, compression=compression)
    assert client.receive() is None
    other = begin(world, [framed(1)], partition=1)
    assert other.receive() is not None, "other clients are served between the slices"
    (answer,), counts = finish(world, client)
    assert (answer.error_code, answer.base_offset, max(counts)) == (ErrorCode.NONE, 0, RECORDS_PER_SLICE)
    assert MANY - 2 * RECORDS_PER_SLICE < sum(counts) < MANY
    assert world.cluster.topics["orders"].partitions[0].log.end_offset == MANY


def test_large_batch_names_its_first_refused_records(world: World) -> None:
    (answer,), counts = finish(world, begin(world, [*GOOD[:-1], framed(9)]))
    assert [error.batch_index for error in answer.record_errors] == [MANY - 1]
    (answer,), counts = finish(world, begin(world, [b"plain"] * MANY))
    assert (answer.error_code, len(answer.record_errors)) == (ErrorCode.INVALID_RECORD, MAX_ERRORS)
    assert sum(counts) <= MAX_ERRORS
    assert world.cluster.topics["orders"].partitions[0].log.end_offset == 0


def test_one_large_batch_is_checked_at_a_time(world: World) -> None:
    first, second = begin(world, GOOD), begin(world, GOOD, partition=1)
    third = begin(world, GOOD)
    second.connection.lost("gone")
    assert world.cluster.checks_schemas
    answers, counts = finish(world, first, third)
    assert [answer.base_offset for answer in answers] == [0, MANY]
    assert max(counts) == RECORDS_PER_SLICE and not world.cluster.checks_schemas


def test_client_that_leaves_ends_its_check(world: World) -> None:
    first, second = begin(world, GOOD), begin(world, GOOD)
    first.connection.lost("gone")
    (answer,), _ = finish(world, second)
    assert (answer.base_offset, world.cluster.checks_schemas) == (0, False)


def test_invalid_large_batch_is_refused_as_by_any_topic(world: World) -> None:
    damaged = bytearray(a_batch(*GOOD))
    damaged[-1] ^= 1
    client = world.client()
    client.send(PRODUCE, 9, produce_request("orders", bytes(damaged)))
    (answer,), counts = finish(world, client)
    assert answer.error_code == ErrorCode.CORRUPT_MESSAGE and sum(counts) == 0
