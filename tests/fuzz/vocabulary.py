"""Draws the values of fields in generated requests: plausible ones by the name of a field, or extreme ones by its kind.

A `Draw` makes the random choices of one frame. It contains the facts that were learnt about the cluster (`facts.py`) and the wildness of
the frame: the probability of an extreme value in a field. Frames with a low wildness reach deep states of the broker, and frames with a
high wildness test its checks.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from types import NoneType
from typing import Any

from odradek.broker.settings.rows import BROKER_SETTINGS, GROUP_SETTINGS, TOPIC_SETTINGS
from odradek.protocol.stored.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartitions, write

from .facts import Facts, Known

Chooser = Callable[["Draw"], Any]

WIDTH_BITS = {"b": 8, "h": 16, "H": 16, "i": 32, "q": 64}
EDGES = {
    kind: [-(1 << bits - 1), -(1 << bits - 1) + 1, -3, -2, -1, 0, 1, 2, 127, (1 << bits - 1) - 2, (1 << bits - 1) - 1]
    for kind, bits in WIDTH_BITS.items()
}
ODD_TEXTS: list[bytes] = [
    b"",
    b" ",
    b".",
    b"..",
    b"a.b",
    b"a_b",
    b"__consumer_offsets",
    b"__transaction_state",
    b"__share_group_state",
    b"\0",
    b"connection\nbreak\r\x1b[31m",
    "größe €𝔘".encode(),
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",  # half of a surrogate pair
    b"\xf4\x90\x80\x80",  # beyond Unicode
    b"\xff" * 200,
    b"%s%d{0}",
    b"-1",
    b"9223372036854775808",
    b"*",
    b"x" * 249,
    b"x" * 250,
]
LONG_TEXTS = [b"x" * 32767, b"\xff" * 32767, "é".encode() * 16383, b"\xff" * 10923]
PATTERNS = [
    "t.*",
    "t|u",
    "",
    ".*",
    "(",
    "[a-z]+",
    "(?:a*)*b",
    "\\p{L}+",
    "(?:(?:x){40}){40}",
    "t\\d{1,3}",
    "^t0$",
    "(t)\\1",
    "(?<n>t)",
    "u" * 300,
]
CONFIGS = [*TOPIC_SETTINGS, *TOPIC_SETTINGS, *TOPIC_SETTINGS, *GROUP_SETTINGS, *BROKER_SETTINGS]
VALUES = [
    "1",
    "0",
    "-1",
    "60000",
    "true",
    "false",
    "compact",
    "delete",
    "compact,delete",
    "zstd",
    "gzip",
    "producer",
    "CreateTime",
    "x",
    "",
    "1.5",
]
STATES = ["Stable", "Empty", "Dead", "PreparingRebalance", "stable", "Assigning", "Ongoing", "CompleteCommit", "Unknown"]


class Draw:
    """The random choices of one frame."""

    def __init__(self, random: Random, facts: Facts, batch: Callable[[Draw], bytes]) -> None:
        self.random = random
        self.facts = facts
        self.known = Known()
        self.batch = batch
        self.wildness = 0.0
        self.lengths_before_damage = -1
        """The number of correct lengths before one is falsified; negative if none is falsified."""
        self.elements_left = 0
        """The number of elements that a large frame may still have in its arrays, large, nested or repeated; 0 in other frames."""

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def one_of(self, choices: Any) -> Any:
        return choices[int(self.random.random() * len(choices))]

    def edge(self, kind: str) -> Any:
        """Returns a value of the kind that is probably refused."""
        if kind in EDGES:
            return self.one_of(EDGES[kind])
        if kind == "str":
            return self.one_of(LONG_TEXTS) if self.random.random() < 0.003 else self.one_of(ODD_TEXTS)
        if kind in ("bytes", "records"):
            return self.random.randbytes(int(self.random.random() * 40))
        return {"?": True, "d": float("nan"), "16s": self.random.randbytes(16)}[kind]


def _from(*choices: Any) -> Chooser:
    return lambda draw: choices[int(draw.random.random() * len(choices))]


def _below(count: int) -> Chooser:
    return lambda draw: int(draw.random.random() * count)


def _known(name: str) -> Chooser:
    return lambda draw: getattr(draw.known, name)


def _subscription(draw: Draw) -> bytes:
    topics = [fact.name for fact in draw.facts.topics[:2]]
    owned = [TopicPartitions(topic=topic, partitions=[0]) for topic in topics]
    message = ConsumerProtocolSubscription(topics=topics, owned_partitions=owned if draw.chance(0.3) else [], generation_id=-1)
    return write(message, draw.one_of((0, 1, 2, 3)))


def _assignment(draw: Draw) -> bytes:
    assigned = [TopicPartitions(topic=draw.known.topic, partitions=[0, 1])]
    return write(ConsumerProtocolAssignment(assigned_partitions=assigned), 0)


def _epoch_of_session(draw: Draw) -> int:
    return draw.known.session_epoch if draw.known.session_id else draw.one_of((0, -1))


_topic: Chooser = _known("topic")
_group: Chooser = _known("group_id")
_transactional_id: Chooser = _known("transactional_id")
_partition: Chooser = _below(3)
_node: Chooser = _from(1, 1, 2, 2, 3)
_timeout: Chooser = _from(0, 1, 100, 1000, 60_000)


def _own_member_id(draw: Draw) -> str:
    """Members of consumer groups choose their own ids."""
    return draw.known.member_id or draw.one_of(("m0", "m1", "m2"))


def _own_member_epoch(draw: Draw) -> int:
    return draw.one_of((-1, -2)) if draw.random.random() < 0.05 else draw.known.generation_id if draw.known.member_id else 0


def _maybe(chooser: Chooser, otherwise: Any = None) -> Chooser:
    return lambda draw: chooser(draw) if draw.random.random() < 0.5 else otherwise


# The keys are names of fields, or pairs of message and field where a name has several meanings.
FIELDS: dict[str | tuple[str, str], Chooser] = {
    "acks": _from(-1, -1, 1, 0),
    "allow_auto_topic_creation": _from(True, False),
    "assignment": _assignment,
    "broker_id": _node,
    "broker_ids": _node,
    "client_software_name": _from("fuzz", "apache-kafka-java"),
    "client_software_version": _from("1.0", "4.3.0"),
    "cluster_id": lambda draw: None,
    "committed_leader_epoch": _from(-1, 0, 1),
    "committed_metadata": _from("", "note", None),
    "committed_offset": _below(20),
    "config_operation": _below(4),
    "configuration_keys": _from(*CONFIGS),
    "coordinator_epoch": _below(3),
    "coordinator_keys": lambda draw: draw.one_of((draw.known.group_id, draw.known.transactional_id)),
    "count": _from(2, 3, 4, 5),
    "current_leader_epoch": _from(-1, -1, 0, 1),
    "duration_filter": _from(-1, 0, 1000),
    "election_type": _below(2),
    "endpoint_type": _from(1, 2),
    "entity_name": _from(None, "a", "127.0.0.1"),
    "entity_type": _from("user", "client-id", "ip"),
    "feature": _from("metadata.version", "transaction.version", "group.version", "kraft.version"),
    "fetch_offset": _below(20),
    "generation_id": _known("generation_id"),
    "generation_id_or_member_epoch": _known("generation_id"),
    "group_id": _group,
    "group_ids": _group,
    "group_instance_id": _known("instance_id"),
    "groups": _group,
    "groups_names": _group,
    "high_watermark": _below(20),
    "host": _from("*", "127.0.0.1"),
    "host_filter": _from(None, "*"),
    "index": _partition,
    "instance_id": _known("instance_id"),
    "isolation_level": _below(2),
    "iterations": _from(4096, 8192),
    "key": lambda draw: draw.one_of((draw.known.group_id, draw.known.transactional_id)),
    ("OpData", "key"): _from("producer_byte_rate", "consumer_byte_rate", "request_percentage"),
    "key_type": _below(2),
    "last_fetched_epoch": _from(-1, 0, 1),
    "leader_epoch": _below(3),
    "log_start_offset": _from(-1, 0),
    "match": _from(None, "a"),
    "match_type": _below(3),
    "max_bytes": _from(1, 100, 1 << 20, 50 << 20),
    "max_wait_ms": _from(0, 0, 1, 500),
    "max_version_level": _below(3),
    "mechanism": _from(1, 2),
    ("SaslHandshakeRequest", "mechanism"): _from("PLAIN", "SCRAM-SHA-256"),
    "member_epoch": _known("generation_id"),
    ("ConsumerGroupHeartbeatRequest", "member_epoch"): _own_member_epoch,
    "member_id": _known("member_id"),
    ("ConsumerGroupHeartbeatRequest", "member_id"): _own_member_id,
    "metadata": _subscription,
    "min_bytes": _from(0, 1, 1000),
    "name": _topic,
    ("AlterableConfig", "name"): _from(*CONFIGS),
    ("CreatableTopicConfig", "name"): _from(*CONFIGS),
    ("JoinGroupRequestProtocol", "name"): _from("range", "range", "roundrobin", "cooperative-sticky"),
    ("ScramCredentialDeletion", "name"): _from("alice", "bob"),
    ("ScramCredentialUpsertion", "name"): _from("alice", "bob"),
    ("UserName", "name"): _from("alice", "bob"),
    "num_partitions": _from(-1, 1, 2, 3),
    "offset": _from(-1, 0, 1, 5),
    "operation": _from(*range(14)),
    "partition": _partition,
    "partition_index": _partition,
    "partition_indexes": _partition,
    "partition_max_bytes": _from(1, 1 << 10, 1 << 20),
    "partitions": _partition,
    "path": _from("/tmp/kafka-logs", "/elsewhere"),
    "pattern_type_filter": _from(1, 2, 3, 4),
    "permission_type": _from(2, 3),
    "permission_type_filter": _from(1, 2, 3),
    "principal": _from("User:alice", "User:*"),
    "principal_filter": _from(None, "User:alice"),
    "producer_epoch": _known("producer_epoch"),
    "producer_id": _known("producer_id"),
    "producer_id_filters": _known("producer_id"),
    "protocol_name": _from("range", "range", None),
    "protocol_type": _from("consumer", "consumer", "consumer", "connect"),
    "rack_id": _from("", "a", "b"),
    "reason": _from(None, "because"),
    "rebalance_timeout_ms": _from(1000, 60_000, 300_000),
    "records": lambda draw: draw.batch(draw),
    "replica_epoch": lambda draw: -1,
    "replica_id": _from(-1, -1, -1, 1, -2),
    "replicas": _node,
    "replication_factor": _from(-1, 1, 2),
    "resource_name": lambda draw: draw.one_of((draw.known.topic, draw.known.topic, draw.known.group_id, "1", "", "kafka-cluster")),
    "resource_name_filter": _maybe(_topic),
    "resource_pattern_type": _from(3, 4),
    "resource_type": _from(2, 2, 3, 4, 5, 16, 32),
    "resource_type_filter": _from(1, 2, 3),
    "resource_types": _from(2, 4, 8, 16, 32),
    "response_partition_limit": _from(1, 2, 2000),
    "retention_time_ms": _from(-1, 1000, 60_000),
    "server_assignor": _from(None, "uniform", "range"),
    "session_epoch": _epoch_of_session,
    "session_id": _known("session_id"),
    "session_timeout_ms": _from(6000, 10_000, 45_000),
    "state_filters": _from(*STATES),
    "states_filter": _from(*STATES),
    "subscribed_topic_names": _topic,
    "subscribed_topic_regex": lambda draw: draw.one_of(PATTERNS) if draw.random.random() < 0.3 else None,
    "timeout_ms": _timeout,
    "timestamp": _from(-1, -2, -3, -4, -5, 0, 1001, 1_700_000_000_000),
    "topic": _topic,
    "topic_id": _known("topic_id"),
    "topic_name": _topic,
    "topic_names": _topic,
    "transaction_timeout_ms": _from(1000, 60_000, 900_000),
    "transaction_version": _from(0, 1, 2),
    "transactional_id": _transactional_id,
    ("ProduceRequest", "transactional_id"): _maybe(_transactional_id),
    ("InitProducerIdRequest", "transactional_id"): _maybe(_transactional_id),
    "transactional_id_pattern": lambda draw: draw.one_of(PATTERNS) if draw.random.random() < 0.5 else None,
    "transactional_ids": _transactional_id,
    "types_filter": _from("classic", "consumer", "Classic"),
    "v3_and_below_producer_epoch": _known("producer_epoch"),
    "v3_and_below_producer_id": _known("producer_id"),
    "v3_and_below_transactional_id": _transactional_id,
    "upgrade_type": _from(1, 2, 3),
    "validate_only": lambda draw: draw.random.random() < 0.2,
    "value": _from(*VALUES),
}
KINDS: dict[str, Chooser] = {
    "str": _from("a", "b", "name"),
    "bytes": _from(b"", b"bytes"),
    "?": _from(True, False),
    "d": _from(0.0, 1.5),
    "16s": _from(bytes(16)),
} | {kind: _from(0, 1, 2) for kind in WIDTH_BITS}

MOSTLY_EMPTY = {
    "assignments",
    ("CreatableTopic", "configs"),
    ("ConsumerGroupHeartbeatRequest", "topic_partitions"),
    "forgotten_topics_data",
}
"""Arrays that contradict another field unless they are empty, or whose random values are mostly refused."""


def is_mostly_empty(message: str, field: str) -> bool:
    """Returns whether an array should have elements in only a few requests."""
    return field in MOSTLY_EMPTY or (message, field) in MOSTLY_EMPTY


_TYPES: dict[str, tuple[type, ...]] = {"str": (str, bytes, NoneType), "16s": (bytes,), "?": (bool,), "d": (float,)} | dict.fromkeys(
    WIDTH_BITS, (int,)
)


def chooser(message: str, field: str, kind: str) -> Chooser:
    """Returns the function that draws plausible values of a field. Values that do not fit its kind are replaced by values of the kind."""
    by_kind = KINDS.get(kind, KINDS["bytes"])
    if (message, field) in FIELDS:
        return FIELDS[message, field]
    if field not in FIELDS:
        return by_kind
    by_name, types = FIELDS[field], _TYPES.get(kind, (bytes, NoneType))

    def choose(draw: Draw) -> Any:
        value = by_name(draw)
        return value if isinstance(value, types) else by_kind(draw)

    return choose
