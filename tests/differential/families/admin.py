"""Administration of topics, partitions, replicas and the cluster. Configs are in the family `configs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from odradek.protocol.messages.alter_partition_reassignments import ALTER_PARTITION_REASSIGNMENTS
from odradek.protocol.messages.alter_replica_log_dirs import ALTER_REPLICA_LOG_DIRS
from odradek.protocol.messages.create_partitions import CREATE_PARTITIONS
from odradek.protocol.messages.create_topics import CREATE_TOPICS
from odradek.protocol.messages.delete_topics import DELETE_TOPICS
from odradek.protocol.messages.describe_client_quotas import DESCRIBE_CLIENT_QUOTAS
from odradek.protocol.messages.describe_cluster import DESCRIBE_CLUSTER
from odradek.protocol.messages.describe_log_dirs import DESCRIBE_LOG_DIRS
from odradek.protocol.messages.elect_leaders import ELECT_LEADERS
from odradek.protocol.messages.list_partition_reassignments import LIST_PARTITION_REASSIGNMENTS
from odradek.protocol.messages.metadata import METADATA
from odradek.protocol.schema import ZERO_UUID, Api

from ..case import Case, Send, Topic, all_versions, id_of
from ..requests import request_of

SHARED = Topic("admin.shared", {"retention.ms": "77"}, ((1, 2), (2, 1)))
Fields = Mapping[str, Any]


def cases() -> Iterator[Case]:
    for make in (_created, _grown, _deleted, _reassigned, _elected, _log_dirs, _cluster, _quotas):
        for case in make():
            yield case._replace(topics=(SHARED, *case.topics))


def send(api: Api, version: int, fields: Fields, **options: Any) -> Send:
    return Send(api, version, request_of(api, fields), **options)


def described(*topics: str) -> Send:
    wanted = [{"name": name, "topic_id": ZERO_UUID} for name in topics]
    return send(METADATA, 9, {"topics": wanted, "allow_auto_topic_creation": False})


def _topic(name: str, partitions: int = 1, factor: int = 1, assignments: Any = (), /, **configs: str | None) -> Fields:
    placed = [{"partition_index": index, "broker_ids": list(nodes)} for index, nodes in assignments]
    chosen = [{"name": key.replace("_", "."), "value": value} for key, value in configs.items()]
    return {"name": name, "num_partitions": partitions, "replication_factor": factor, "assignments": placed, "configs": chosen}


def _created() -> Iterator[Case]:
    for version in (2, 4, 5, 7):
        for word, topics in _topics_to_create(f"admin.create.v{version}"):
            name = f"admin.create.v{version}.{word}"
            for validate_only in (True, False):
                fields = {"topics": topics, "timeout_ms": 10_000, "validate_only": validate_only}
                seen = () if validate_only else (described(*dict.fromkeys(topic["name"] for topic in topics if topic["name"])),)
                made = send(CREATE_TOPICS, version, fields, settles=not validate_only)
                yield Case(f"{name}.validated" if validate_only else name, (), (made, *(seen if word in _DESCRIBED else ())))


_DESCRIBED = {"assigned"}


def _topics_to_create(prefix: str) -> Iterator[tuple[str, list[Fields]]]:
    def one(word: str, *args: Any, **configs: str | None) -> tuple[str, list[Fields]]:
        return word, [_topic(f"{prefix}.{word}", *args, **configs)]

    yield "nothing", []
    yield "existing", [_topic(SHARED.name)]
    yield "colliding", [_topic("admin_shared")]
    yield "twice", [_topic(f"{prefix}.twice"), _topic(f"{prefix}.twice", 2), _topic(f"{prefix}.once")]
    yield "good-and-bad", [_topic(f"{prefix}.good"), _topic("a/b"), _topic(f"{prefix}.bad", 0)]
    for word, name in (
        ("empty", ""),
        ("dot", "."),
        ("dots", ".."),
        ("slash", "a/b"),
        ("long", "a" * 250),
        ("umlaut", "\xe4"),
        ("blank", " "),
    ):
        yield f"name-{word}", [_topic(name)]
    for name in ("__cluster_metadata", "__consumer_offsets"):
        yield f"name{name}", [_topic(name)]
    for partitions in (0, -2, 10_001):
        yield one(f"partitions.{partitions}", partitions)
    for factor in (0, -2, 2, 3, 32_767):
        yield one(f"factor.{factor}", 1, factor)
    yield "defaults", [_topic(f"{prefix}.defaults", -1)]
    for word, assignments in (
        ("assigned", [(0, [1, 2]), (1, [2, 1])]),
        ("assigned.unordered", [(1, [2]), (0, [1])]),
        ("assigned.no-replica", [(0, [])]),
        ("assigned.unknown", [(0, [1]), (1, [7])]),
        ("assigned.repeated", [(0, [1, 1])]),
        ("assigned.uneven", [(0, [1]), (1, [1, 2])]),
        ("assigned.gap", [(0, [1]), (2, [1])]),
        ("assigned.from-one", [(1, [1])]),
        ("assigned.same", [(0, [1]), (0, [2])]),
        ("assigned.negative", [(-1, [1])]),
    ):
        yield one(word, -1, -1, assignments)
    yield one("assigned.counted", 1, -1, [(0, [1])])
    yield one("assigned.factor", -1, 1, [(0, [1])])
    for word, configs in (
        ("good", {"retention_ms": "-1", "cleanup_policy": "compact,delete"}),
        ("unknown", {"no_such": "1"}),
        ("text", {"retention_ms": "soon"}),
        ("empty", {"retention_ms": ""}),
        ("null", {"retention_ms": None}),
        ("range", {"retention_ms": "-2"}),
        ("policy", {"cleanup_policy": "forget"}),
        ("no-policy", {"cleanup_policy": ""}),
        ("boolean", {"preallocate": "yes"}),
        ("spaces", {"retention_ms": " 5 "}),
        ("lags", {"min_compaction_lag_ms": "5", "max_compaction_lag_ms": "4"}),
        ("isr", {"min_insync_replicas": "0"}),
        ("remote", {"remote_storage_enable": "true"}),
        ("two-bad", {"retention_ms": "x", "no_such": "1"}),
        ("segment", {"segment_bytes": "1"}),
        ("double", {"min_cleanable_dirty_ratio": "1.5"}),
        ("internal", {"internal_segment_bytes": "100"}),
    ):
        yield one(f"config.{word}", 1, 1, (), **configs)
    twice = [{"name": "retention.ms", "value": value} for value in ("1", "2")]
    yield "config.twice", [{**_topic(f"{prefix}.config.twice"), "configs": twice}]


def _grown() -> Iterator[Case]:
    for version in (0, 3):
        for word, topics in _topics_to_grow():
            for validate_only in (True, False):
                name = f"admin.grow.v{version}.{word}" + ".validated" * validate_only
                own = Topic(name, {}, ((1, 2), (2, 1)))
                wanted = [{"name": name if each["name"] is None else each["name"], **_but_name(each)} for each in topics]
                fields = {"topics": wanted, "timeout_ms": 10_000, "validate_only": validate_only}
                yield Case(name, (own,), (send(CREATE_PARTITIONS, version, fields, settles=True), described(name)))


def _but_name(fields: Fields) -> Fields:
    return {key: value for key, value in fields.items() if key != "name"}


def _topics_to_grow() -> Iterator[tuple[str, list[Fields]]]:
    """Yields topics for CreatePartitions. The name None stands for the topic of the case."""

    def to(count: int, *assignments: list[int], name: str | None = None) -> Fields:
        return {"name": name, "count": count, "assignments": [{"broker_ids": nodes} for nodes in assignments] if assignments else None}

    for count in (-1, 0, 1, 2):
        yield f"to.{count}", [to(count)]
    yield "unknown", [to(3, name="nobody")]
    yield "bad-name", [to(3, name="a/b")]
    yield "no-name", [to(3, name="")]
    yield "twice", [to(3), to(4)]
    yield "two", [to(1), to(3, name="nobody")]
    yield "nothing", []
    yield "assigned", [to(4, [2, 1], [1, 2])]
    yield "assigned.too-few", [to(4, [2, 1])]
    yield "assigned.too-many", [to(3, [2, 1], [1, 2])]
    yield "assigned.unknown", [to(3, [1, 7])]
    yield "assigned.repeated", [to(3, [1, 1])]
    yield "assigned.uneven", [to(3, [1])]
    yield "assigned.no-replica", [to(3, [])]
    yield "assigned.empty", [{"name": None, "count": 3, "assignments": []}]


def _deleted() -> Iterator[Case]:
    for version in (1, 3, 5):
        for word, others in (("known", ()), ("unknown", ("nobody",)), ("bad-name", ("a/b", "")), ("twice", (None,))):
            name = f"admin.delete.v{version}.{word}"
            names = [name, *(name if other is None else other for other in others)]
            fields = {"topic_names": names, "timeout_ms": 10_000}
            yield Case(name, (Topic(name),), (send(DELETE_TOPICS, version, fields, settles=True), described(name)))
    for word, wanted in (
        ("name", [("own", "")]),
        ("id", [(None, "own")]),
        ("both", [("own", "own")]),
        ("neither", [(None, ""), (None, "")]),
        ("unknown", [("nobody", ""), (None, "nobody")]),
        ("twice.name", [("own", ""), ("own", "")]),
        ("twice.id", [(None, "own"), (None, "own")]),
        ("thrice.id", [(None, "own"), (None, "own"), (None, "own")]),
        ("twice.name-and-id", [("own", ""), (None, "own")]),
        ("nothing", []),
    ):
        name = f"admin.delete.v6.{word}"
        states = [
            {"name": name if text == "own" else text, "topic_id": id_of(name if key == "own" else key) if key else ZERO_UUID}
            for text, key in wanted
        ]
        fields = {"topics": states, "timeout_ms": 10_000}
        yield Case(name, (Topic(name),), (send(DELETE_TOPICS, 6, fields, settles=True), described(name)))


def _reassigned() -> Iterator[Case]:
    for word, replicas, *partition in (
        ("cancelled", None),
        ("unknown-partition", [1], 7),
        ("negative-partition", [1], -1),
        ("no-replica", []),
        ("repeated", [1, 1]),
        ("unknown", [1, 7]),
        ("negative", [-1]),
        ("same", [1, 2]),
        ("order", [2, 1]),
    ):
        name = f"admin.reassign.{word}"
        wanted = [{"partition_index": partition[0] if partition else 0, "replicas": replicas}]
        fields = {"topics": [{"name": each, "partitions": wanted} for each in (name, "nobody")]}
        steps = [send(ALTER_PARTITION_REASSIGNMENTS, version, fields, settles=True) for version in (0, 1)]
        listed = send(LIST_PARTITION_REASSIGNMENTS, 0, {"topics": [{"name": name, "partition_indexes": [0]}]})
        yield Case(name, (Topic(name, {}, ((1, 2),)),), (*steps, listed, described(name)))
    name = "admin.reassign.factor"
    topics = [{"name": name, "partitions": [{"partition_index": 0, "replicas": [1]}]}]
    unchanged_factor: Fields = {"topics": topics, "allow_replication_factor_change": False}
    yield Case(name, (Topic(name, {}, ((1, 2),)),), (send(ALTER_PARTITION_REASSIGNMENTS, 1, unchanged_factor), described(name)))


def _elected() -> Iterator[Case]:
    for version in all_versions(ELECT_LEADERS):
        for kind in (0, 1, 2, -1):
            topics = [{"topic": SHARED.name, "partitions": [0, 7]}, {"topic": "nobody", "partitions": [0]}]
            for word, wanted in (("some", topics), ("none", []), ("same", [topics[1], topics[1]])):
                fields = {"election_type": kind, "topic_partitions": wanted, "timeout_ms": 10_000}
                yield Case(f"admin.elect.v{version}.{kind}.{word}", (), (send(ELECT_LEADERS, version, fields),))


def _log_dirs() -> Iterator[Case]:
    for version in (1, 2, 3):
        for word, topics in (
            ("known", [(SHARED.name, [0, 1])]),
            ("unknown", [("nobody", [0]), (SHARED.name, [7])]),
            ("same", [(SHARED.name, [0, 0])]),
            ("same-topic", [(SHARED.name, [0]), (SHARED.name, [1])]),
            ("nothing", []),
        ):
            wanted = [{"topic": name, "partitions": partitions} for name, partitions in topics]
            yield Case(f"admin.log-dirs.v{version}.{word}", (), (send(DESCRIBE_LOG_DIRS, version, {"topics": wanted}),))
    for word, path in (("elsewhere", "/nowhere"), ("relative", "nowhere"), ("no-path", "")):
        moved = [{"name": name, "partitions": [0, 7]} for name in (SHARED.name, "nobody")]
        yield Case(f"admin.move.{word}", (), (send(ALTER_REPLICA_LOG_DIRS, 2, {"dirs": [{"path": path, "topics": moved}]}),))


def _cluster() -> Iterator[Case]:
    for version in all_versions(DESCRIBE_CLUSTER):
        for kind in (0, 1, 2, 3):
            fields = {"include_cluster_authorized_operations": True, "endpoint_type": kind, "include_fenced_brokers": True}
            yield Case(f"admin.cluster.v{version}.{kind}", (), (send(DESCRIBE_CLUSTER, version, fields),))


def _quotas() -> Iterator[Case]:
    for word, components in (
        ("none", []),
        ("exact", [("user", 0, "a")]),
        ("default", [("client-id", 1, None)]),
        ("any", [("ip", 2, None)]),
        ("two", [("user", 0, "a"), ("client-id", 1, None)]),
        ("twice", [("user", 0, "a"), ("user", 1, None)]),
        ("no-match", [("user", 0, None)]),
        ("needless-match", [("user", 1, "a")]),
        ("match-type", [("user", 7, None)]),
        ("entity", [("colour", 0, "red")]),
        ("no-entity", [("", 0, "red")]),
        ("ip-and-user", [("ip", 2, None), ("user", 2, None)]),
    ):
        wanted = [{"entity_type": entity, "match_type": kind, "match": match} for entity, kind, match in components]
        for version in all_versions(DESCRIBE_CLIENT_QUOTAS):
            for strict in (True, False):
                fields = {"components": wanted, "strict": strict}
                name = f"admin.quotas.v{version}.{word}" + ".strict" * strict
                yield Case(name, (), (send(DESCRIBE_CLIENT_QUOTAS, version, fields),))
