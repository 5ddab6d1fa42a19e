"""Answers of older releases: versions that are refused, message sets and their conversion, and versions that Kafka 4.0 removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from odradek.protocol.batches.compression import Compression, compress
from odradek.protocol.batches.message_sets import LegacyMessage, build_message, build_message_set
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.create_topics import CREATE_TOPICS
from odradek.protocol.messages.delete_topics import DELETE_TOPICS, DeleteTopicsRequest
from odradek.protocol.messages.describe_configs import DESCRIBE_CONFIGS
from odradek.protocol.messages.describe_topic_partitions import DESCRIBE_TOPIC_PARTITIONS
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.list_offsets import LIST_OFFSETS
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.offset_commit import OFFSET_COMMIT
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH
from odradek.protocol.messages.offset_for_leader_epoch import OFFSET_FOR_LEADER_EPOCH
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.schema import Api

from ..case import Case, Send, Topic
from ..requests import request_of

ONE_PARTITION = ((1,),)
CODECS = (Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4)
SOFTWARE = ApiVersionsRequest(client_software_name="test", client_software_version="1")
STILL_OPEN = Send(METADATA, 1, MetadataRequest(topics=[]))
FIRST_MS = 1_600_000_000_000
RECORDS = [Record(n, FIRST_MS + n, key, value, []) for n, (key, value) in enumerate([(b"k", b"v" * 30), (None, b""), (b"", None)])]


def of_release(number: tuple[int, int]) -> Callable[[], Iterator[Case]]:
    """Returns the cases of the family of a release."""
    family = f"release_{number[0]}_{number[1]}"

    def cases() -> Iterator[Case]:
        for case in (*_versions(), *_produced(), *_refused(), *_fetched(), *_formats(number), *_other_apis(family)):
            yield case._replace(name=f"{family}.{case.name}")

    return cases


def _topic(name: str, **configs: str) -> Topic:
    return Topic(f"older-{name}", {key.replace("_", "."): value for key, value in configs.items()}, ONE_PARTITION)


def _send(api: Api, version: int, **fields: Any) -> Send:
    return Send(api, version, request_of(api, fields))


def _produce(topic: Topic, version: int, data: bytes | None, acks: int = -1) -> Send:
    partition = {"index": 0, "records": data}
    return _send(PRODUCE, version, acks=acks, timeout_ms=1000, topic_data=[{"name": topic.name, "partition_data": [partition]}])


def _fetch(topic: Topic, version: int, offset: int = 0, partition_max_bytes: int = 1 << 20) -> Send:
    partition = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": partition_max_bytes}
    return _send(FETCH, version, max_wait_ms=0, min_bytes=0, topics=[{"topic": topic.name, "partitions": [partition]}])


def _batch(records: Sequence[Record] = RECORDS, **options: Any) -> bytes:
    return bytes(build_batch(records, **options))


def _versions() -> Iterator[Case]:
    for version in (0, 1, 2, 3, 99):
        yield Case(f"api_versions.v{version}", (), (Send(API_VERSIONS, version, SOFTWARE),))
    yield Case("refused.metadata", (), (Send(METADATA, 13, MetadataRequest(topics=[])), STILL_OPEN))
    yield Case("refused.fetch", (), (_send(FETCH, 18, max_wait_ms=0, min_bytes=0, topics=[]), STILL_OPEN))
    late = _send(DESCRIBE_TOPIC_PARTITIONS, 0, topics=[], response_partition_limit=1, cursor=None)
    yield Case("refused.api", (), (late, STILL_OPEN))


def _produced() -> Iterator[Case]:
    for version, magic, codec in product((0, 1, 2), (0, 1), CODECS):
        topic = _topic(f"produced-{version}-{magic}-{codec.name.lower()}")
        data = build_message_set(RECORDS, magic, codec)
        steps = (_produce(topic, version, data), _produce(topic, version, data), _fetch(topic, 4))
        yield Case(f"produced.v{version}.magic{magic}.{codec.name.lower()}", (topic,), steps)
    topic = _topic("appended", message_timestamp_type="LogAppendTime")
    yield Case("produced.append_time", (topic,), (_produce(topic, 2, build_message_set(RECORDS, 1)), _fetch(topic, 3), _fetch(topic, 4)))


def _message(magic: int = 1, attributes: int = 0, key: bytes | None = None, value: bytes | None = b"v", offset: int = 0) -> bytes:
    return build_message(LegacyMessage(offset, magic, attributes, FIRST_MS, key, value))


def _refused() -> Iterator[Case]:
    packed = build_message_set(RECORDS, 1, Compression.GZIP)
    damaged = {
        "empty": b"",
        "incomplete": _message()[:-1],
        "crc": _message()[:-1] + b"x",
        "second_crc": _message() + _message()[:-1] + b"x",
        "short": bytes(8) + (13).to_bytes(4, "big") + bytes(13),
        "magic": _message()[:16] + b"\x05" + _message()[17:],
        "append_time": _message(attributes=8),
        "two_wrappers": packed + packed,
        "wrapper_and_message": packed + _message(),
        "no_value": _message(attributes=1, value=None),
        "nothing_inside": _message(attributes=1, value=compress(Compression.GZIP, b"")),
        "not_gzip": _message(attributes=1, value=b"not gzip"),
        "zstd": _message(attributes=4, value=b"zstd"),
        "codec": _message(attributes=7, value=b"codec"),
    }
    for name, data in damaged.items():
        topic = _topic(f"refused-{name}".replace("_", "-"))
        yield Case(f"refused.{name}", (topic,), (_produce(topic, 2, data), _fetch(topic, 4)))
    topic = _topic("refused-compacted", cleanup_policy="compact")
    yield Case("refused.compacted", (topic,), (_produce(topic, 2, _message()), _produce(topic, 2, _message(key=b"k")), _fetch(topic, 4)))
    topic = _topic("refused-large", max_message_bytes="100")
    large = _produce(topic, 2, _message(value=b"v" * 100))
    yield Case("refused.large", (topic,), (large, _produce(topic, 2, _message()), _fetch(topic, 4)))
    topic = _topic("refused-time", message_timestamp_difference_max_ms="1000")
    yield Case("refused.time", (topic,), (_produce(topic, 2, _message()), _produce(topic, 2, _message(magic=0)), _fetch(topic, 4)))


def _fetched() -> Iterator[Case]:
    headers = [record._replace(headers=[("h", b"x")]) for record in RECORDS]
    before: tuple[Send, ...]
    for codec in CODECS:
        topic = _topic(f"fetched-{codec.name.lower()}")
        before = (_produce(topic, 3, _batch(headers, compression=codec)), _produce(topic, 3, _batch(compression=codec)))
        fetches = [_fetch(topic, version, offset) for version in range(5) for offset in (0, 1, 3, 6)]
        yield Case(f"fetched.{codec.name.lower()}", (topic,), tuple(fetches), before)
    topic = _topic("fetched-limits")
    before = tuple(_produce(topic, 3, _batch([record._replace(value=b"v" * 500) for record in RECORDS])) for _ in range(3))
    fetches = [_fetch(topic, version, 0, limit) for version in (2, 3) for limit in (100, 1700, 10_000)]
    yield Case("fetched.limits", (topic,), tuple(fetches), before)
    topic = _topic("fetched-zstd")
    before = (_produce(topic, 7, _batch()), _produce(topic, 7, _batch(compression=Compression.ZSTD)))
    yield Case("fetched.zstd", (topic,), (_fetch(topic, 3), _fetch(topic, 3, 3), _fetch(topic, 9, 3), _fetch(topic, 10, 3)), before)
    topic = _topic("fetched-zstd-topic", compression_type="zstd")
    yield Case("fetched.zstd_topic", (topic,), (_fetch(topic, 3), _fetch(topic, 9), _fetch(topic, 10)), (_produce(topic, 7, _batch()),))
    topic = _topic("fetched-unconverted", message_downconversion_enable="false")
    yield Case("fetched.unconverted", (topic,), (_fetch(topic, 1), _fetch(topic, 3), _fetch(topic, 4)), (_produce(topic, 7, _batch()),))


def _formats(number: tuple[int, int]) -> Iterator[Case]:
    """Topics with older message formats, which act up to 2.8."""
    if number > (2, 8):
        return
    for version in ("0.9.0", "0.10.2"):
        topic = _topic(f"format-{version}", message_format_version=version)
        idempotent = _batch(producer_id=1, producer_epoch=0, base_sequence=0)
        steps = (
            _produce(topic, 2, build_message_set(RECORDS, 1)),
            _produce(topic, 3, _batch([record._replace(headers=[("h", b"x")]) for record in RECORDS])),
            _produce(topic, 3, _batch(compression=Compression.GZIP)),
            _produce(topic, 3, idempotent),
            *(_fetch(topic, fetch_version, offset) for fetch_version in (1, 3, 11) for offset in (0, 1, 6)),
            _list_offsets(topic, 1, FIRST_MS),
            _list_offsets(topic, 1, -1),
        )
        yield Case(f"formats.{version}", (topic,), steps)


def _list_offsets(topic: Topic, version: int, timestamp: int, count: int = 1) -> Send:
    partition = {"partition_index": 0, "timestamp": timestamp, "max_num_offsets": count}
    return _send(LIST_OFFSETS, version, replica_id=-1, topics=[{"name": topic.name, "partitions": [partition]}])


def _other_apis(family: str) -> Iterator[Case]:
    topic = _topic("offsets")
    before = tuple(_produce(topic, 3, _batch()) for _ in range(2))
    lists = [_list_offsets(topic, 0, timestamp, count) for timestamp, count in product((-1, -2, 0, (1 << 62)), (0, 1, 5))]
    yield Case("list_offsets.v0", (topic,), tuple(lists), before)
    committed = [{"partition_index": index, "committed_offset": 2, "committed_metadata": "m"} for index in (0, 7)]
    for version in (0, 1):
        commit = {"group_id": f"older-{version}", "topics": [{"name": topic.name, "partitions": committed}]}
        wanted = [{"name": topic.name, "partition_indexes": [0, 7]}]
        steps = (
            _send(OFFSET_COMMIT, version, **commit),
            *(_send(OFFSET_FETCH, each, group_id=f"older-{version}", topics=wanted) for each in (0, 1)),
        )
        yield Case(f"offset_commit.v{version}", (topic,), steps)
    for version in (0, 1):
        name = f"{family.replace('_', '-')}-created-{version}"
        new = {"name": name, "num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": []}
        create = _send(CREATE_TOPICS, version, topics=[new], timeout_ms=1000)._replace(settles=True)
        delete = Send(DELETE_TOPICS, version, DeleteTopicsRequest(topic_names=[name], timeout_ms=10_000), settles=True)
        yield Case(f"topics.v{version}", (), (create, create, delete))
    epochs = {"topic": topic.name, "partitions": [{"partition": index, "leader_epoch": 0} for index in (0, 7)]}
    for version in (0, 1):
        yield Case(f"epochs.v{version}", (topic,), (_send(OFFSET_FOR_LEADER_EPOCH, version, topics=[epochs]),), before)
    keys = ["cleanup.policy", "message.format.version", "message.timestamp.type", "max.message.bytes", "segment.bytes"]
    broker = ["inter.broker.protocol.version", "message.max.bytes", "replica.lag.time.max.ms", "group.max.session.timeout.ms"]
    resources = [
        {"resource_type": 2, "resource_name": topic.name, "configuration_keys": keys},
        {"resource_type": 4, "resource_name": "1", "configuration_keys": [*broker, "log.message.format.version"]},
    ]
    for version in (0, 1):
        yield Case(f"configs.v{version}", (topic,), (_send(DESCRIBE_CONFIGS, version, resources=resources),))
