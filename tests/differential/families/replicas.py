"""Leaders, in-sync and eligible replicas, and reassignments, while nodes stop and return.

Node 1 always runs and receives most requests. Every case leaves all nodes running. Kafka's brokers learn changes from the controller with
a delay, so the cases pause before they read the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from odradek.protocol.messages.alter_partition_reassignments import ALTER_PARTITION_REASSIGNMENTS
from odradek.protocol.messages.create_partitions import CREATE_PARTITIONS
from odradek.protocol.messages.create_topics import CREATE_TOPICS
from odradek.protocol.messages.delete_topics import DELETE_TOPICS
from odradek.protocol.messages.describe_cluster import DESCRIBE_CLUSTER
from odradek.protocol.messages.describe_producers import DESCRIBE_PRODUCERS
from odradek.protocol.messages.describe_topic_partitions import DESCRIBE_TOPIC_PARTITIONS
from odradek.protocol.messages.elect_leaders import ELECT_LEADERS
from odradek.protocol.messages.incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS
from odradek.protocol.messages.list_offsets import LIST_OFFSETS
from odradek.protocol.messages.list_partition_reassignments import LIST_PARTITION_REASSIGNMENTS
from odradek.protocol.messages.metadata import METADATA
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.schema import ZERO_UUID

from ..case import Case, Pause, Send, StartNode, Step, StopNode, Topic, all_versions
from ..requests import batch_of, request_of

SETTINGS = {
    "auto.leader.rebalance.enable": "false",
    "broker.heartbeat.interval.ms": "200",
    "broker.session.timeout.ms": "1000",
}
SETTLED = Pause(700)
CAUGHT_UP = Pause(5000)
PREFERRED, UNCLEAN = 0, 1
TWO = {"min.insync.replicas": "2"}


def cases() -> Iterator[Case]:
    yield from _moved()
    yield _moved_with_a_node_down()
    yield _moved_from_a_node_that_is_down()
    yield _replaced_with_a_node_down()
    yield _leader_stopped_meanwhile()
    yield _administered_meanwhile()
    yield _eligible()
    yield _held_back()
    yield _seen_with_a_node_down()


def reassigned(topic: str, replicas: Sequence[int] | None, partition: int = 0, *, factor_may_change: bool = True) -> Send:
    wanted = [{"partition_index": partition, "replicas": None if replicas is None else list(replicas)}]
    fields = {"topics": [{"name": topic, "partitions": wanted}], "allow_replication_factor_change": factor_may_change}
    return Send(ALTER_PARTITION_REASSIGNMENTS, 1, request_of(ALTER_PARTITION_REASSIGNMENTS, {**fields, "timeout_ms": 10_000}), settles=True)


def listed(*topics: str, node: int = 1) -> Send:
    wanted = [{"name": name, "partition_indexes": [0, 1, 7]} for name in topics]
    return Send(LIST_PARTITION_REASSIGNMENTS, 0, request_of(LIST_PARTITION_REASSIGNMENTS, {"topics": wanted, "timeout_ms": 10_000}), node)


def described(*topics: str) -> Send:
    fields = {"topics": [{"name": name} for name in topics], "response_partition_limit": 2000}
    return Send(DESCRIBE_TOPIC_PARTITIONS, 0, request_of(DESCRIBE_TOPIC_PARTITIONS, fields))


def metadata(version: int, *topics: str) -> Send:
    wanted = [{"name": name, "topic_id": ZERO_UUID} for name in topics]
    return Send(METADATA, version, request_of(METADATA, {"topics": wanted, "allow_auto_topic_creation": False}))


def produced(topic: str, node: int, acks: int = -1) -> Send:
    data = [{"name": topic, "partition_data": [{"index": 0, "records": batch_of(b"v")}]}]
    return Send(PRODUCE, 9, request_of(PRODUCE, {"acks": acks, "timeout_ms": 1000, "topic_data": data}), node)


def latest(topic: str, node: int) -> Send:
    wanted = [{"name": topic, "partitions": [{"partition_index": 0, "timestamp": -1}]}]
    return Send(LIST_OFFSETS, 4, request_of(LIST_OFFSETS, {"replica_id": -1, "topics": wanted}), node)


def elected(kind: int, *topics: str) -> Send:
    fields = {"election_type": kind, "topic_partitions": [{"topic": name, "partitions": [0]} for name in topics], "timeout_ms": 10_000}
    return Send(ELECT_LEADERS, 2, request_of(ELECT_LEADERS, fields), settles=True)


def producers(topic: str, node: int) -> Send:
    return Send(DESCRIBE_PRODUCERS, 0, request_of(DESCRIBE_PRODUCERS, {"topics": [{"name": topic, "partition_indexes": [0, 7]}]}), node)


def _moved() -> Iterator[Case]:
    """Yields cases in which all nodes run: the reassignment is listed first, and completed shortly afterwards."""
    for word, before, after in (
        ("elsewhere", [1], [2]),
        ("grown", [1], [1, 2, 3]),
        ("shrunk", [1, 2, 3], [2]),
        ("shifted", [1, 2], [2, 3]),
        ("turned", [1, 2, 3], [3, 2, 1]),
        ("same", [1, 2], [1, 2]),
        ("apart", [2, 3], [1]),
    ):
        name = f"replicas.moved.{word}"
        steps = (produced(name, before[0]), reassigned(name, after)._replace(settles=False), listed(name))
        yield Case(name, (Topic(name, {}, (tuple(before),)),), (*steps, CAUGHT_UP, listed(name), described(name), metadata(12, name)))


def _moved_with_a_node_down() -> Case:
    """Partitions that are moved to node 3, which is stopped, remain readable and writable at their old replicas."""
    name = "replicas.to-stopped"
    targets = {"only": [3], "first": [3, 1], "last": [1, 3], "back": [2, 3], "more": [1, 2, 3]}
    topics = {word: Topic(f"{name}.{word}", TWO if word == "more" else {}, ((1, 2),)) for word in targets}
    names = [topic.name for topic in topics.values()]
    steps: list[Step] = [reassigned(topics[word].name, replicas) for word, replicas in targets.items()]
    steps += [SETTLED, listed(*names), described(*names), *(produced(each, 1) for each in names if not each.endswith("back"))]
    steps += [produced(topics["back"].name, 2), elected(PREFERRED, *names), SETTLED, described(*names)]
    steps += [StartNode(3), CAUGHT_UP, listed(*names), described(*names), elected(PREFERRED, *names), SETTLED, described(*names)]
    return Case(name, tuple(topics.values()), tuple(steps), (*(produced(each, 1) for each in names), StopNode(3), SETTLED))


def _moved_from_a_node_that_is_down() -> Case:
    """Only node 3, which is stopped, has the data: the reassignment waits for it unless an unclean election gives up the data."""
    name = "replicas.from-stopped"
    waits, lost, kept, unclean = (Topic(f"{name}.{word}", {}, ((3,),)) for word in ("waits", "lost", "kept", "unclean"))
    unclean = unclean._replace(configs={"unclean.leader.election.enable": "true"})
    names = [waits.name, lost.name, kept.name, unclean.name]
    steps: list[Step] = [reassigned(each, [1]) for each in names]
    steps += [SETTLED, listed(*names), described(*names), reassigned(kept.name, None), elected(UNCLEAN, lost.name), SETTLED]
    steps += [listed(*names), described(*names), reassigned(lost.name, None), StartNode(3), CAUGHT_UP, listed(*names), described(*names)]
    steps += [latest(waits.name, 1), latest(lost.name, 1)]
    return Case(name, (waits, lost, kept, unclean), tuple(steps), (*(produced(each, 3) for each in names), StopNode(3), SETTLED))


def _replaced_with_a_node_down() -> Case:
    """Reassignments are replaced and cancelled before they are completed."""
    name = "replicas.replaced"
    chains: dict[str, list[list[int] | None]] = {
        "cancelled": [[1, 2, 3], None, None],
        "again": [[3], [3]],
        "other": [[3], [2, 3], [1, 2]],
        "undone": [[1, 2, 3], [1, 2], [2, 1]],
        "removal-kept": [[3], [3, 1]],
        "undone-otherwise": [[3, 1], [1], [2]],
    }
    topics = {word: Topic(f"{name}.{word}", {}, ((1, 2),)) for word in chains}
    topics["removal-kept"] = topics["removal-kept"]._replace(replicas=((1, 3),))
    names = [topic.name for topic in topics.values()]
    steps: list[Step] = []
    for turn in range(3):
        steps += [reassigned(topics[word].name, chain[turn]) for word, chain in chains.items() if turn < len(chain)]
        steps += [CAUGHT_UP, listed(*names), described(*names)]
    steps += [reassigned(topics["undone"].name, [2], factor_may_change=False), StartNode(3), CAUGHT_UP, listed(*names), described(*names)]
    steps += [reassigned(topics["undone"].name, None), SETTLED, listed(*names), described(*names)]
    return Case(name, tuple(topics.values()), tuple(steps), (StopNode(3), SETTLED))


def _leader_stopped_meanwhile() -> Case:
    """Node 3 is stopped, so no reassignment completes; then the leader, node 2, stops as well."""
    name = "replicas.leader-stopped"
    topics = [Topic(f"{name}.{word}", configs, ((2, 1),)) for word, configs in (("one", {}), ("two", TWO))]
    names = [topic.name for topic in topics]
    steps: list[Step] = [*(reassigned(each, [3, 1]) for each in names), StopNode(2), SETTLED, listed(*names), described(*names)]
    steps += [*(produced(each, 1) for each in names), StartNode(3), CAUGHT_UP, listed(*names), described(*names), StartNode(2), CAUGHT_UP]
    return Case(name, tuple(topics), (*steps, described(*names)), (StopNode(3), SETTLED))


def _administered_meanwhile() -> Case:
    """Topics are created, extended and deleted while node 3 is stopped and a reassignment waits for it."""
    name = "replicas.administered"
    grown, deleted = (Topic(f"{name}.{word}", {}, ((1, 2),)) for word in ("grown", "deleted"))

    def grow(count: int, *assignment: int) -> Send:
        wanted = {"name": grown.name, "count": count, "assignments": [{"broker_ids": list(assignment)}]}
        fields = {"topics": [wanted], "timeout_ms": 10_000, "validate_only": False}
        return Send(CREATE_PARTITIONS, 3, request_of(CREATE_PARTITIONS, fields), settles=True)

    def create(*replicas: int) -> Send:
        assignments = [{"partition_index": 0, "broker_ids": [1]}, {"partition_index": 1, "broker_ids": list(replicas)}]
        wanted = {"name": f"{name}.new", "num_partitions": -1, "replication_factor": -1, "assignments": assignments, "configs": []}
        return Send(CREATE_TOPICS, 7, request_of(CREATE_TOPICS, {"topics": [wanted], "timeout_ms": 10_000, "validate_only": False}))

    delete = Send(DELETE_TOPICS, 5, request_of(DELETE_TOPICS, {"topic_names": [deleted.name], "timeout_ms": 10_000}), settles=True)
    names = [grown.name, deleted.name]
    steps: list[Step] = [
        reassigned(grown.name, [1, 3]),
        reassigned(deleted.name, [3]),
        SETTLED,
        grow(2, 1, 2),
        grow(2, 3),
        grow(2, 3, 1, 2),
    ]
    steps += [create(3), delete, SETTLED, listed(*names), described(grown.name), StartNode(3), CAUGHT_UP, listed(*names), described(*names)]
    return Case(name, (grown, deleted), tuple(steps), (StopNode(3), SETTLED))


def _eligible() -> Case:
    """Nodes 2 and 3 stop one after the other; node 2 starts first, then node 3."""
    name = "replicas.eligible"
    unclean = {"unclean.leader.election.enable": "true"}
    topics = [
        Topic(f"{name}.{word}", configs, (replicas,))
        for word, configs, replicas in (
            ("one", {}, (2, 3)),
            ("two", TWO, (2, 3)),
            ("three", TWO, (2, 3, 1)),
            ("alone", {}, (3,)),
            ("alone-of-two", TWO, (3,)),
            ("unclean", unclean, (2, 3)),
            ("unclean-two", {**unclean, **TWO}, (2, 3)),
            ("elected", {}, (2, 3)),
        )
    ]
    names = [topic.name for topic in topics]
    fully = [produced(each, 3 if each.endswith(("alone", "alone-of-two")) else 2) for each in names]
    steps: list[Step] = [
        StopNode(2),
        SETTLED,
        described(*names),
        *(metadata(version, names[0]) for version in (0, 1, 8, 13)),
        *(produced(each, 3, acks) for each in names for acks in (1, -1)),
        StopNode(3),
    ]
    steps += [SETTLED, described(*names), *(metadata(version, names[0]) for version in all_versions(METADATA))]
    steps += [elected(PREFERRED, *names), elected(UNCLEAN, names[0]), StartNode(2), CAUGHT_UP, described(*names), latest(names[1], 2)]
    steps += [elected(UNCLEAN, names[-1]), SETTLED, described(names[-1]), StartNode(3), CAUGHT_UP, described(*names)]
    return Case(name, tuple(topics), tuple(steps), tuple(fully))


def _held_back() -> Case:
    """Below min.insync.replicas the high watermark does not advance, so records that are written then may be lost."""
    name = "replicas.held-back"
    topic = Topic(name, TWO, ((2, 3),))
    lowered = {"name": "min.insync.replicas", "config_operation": 0, "value": "1"}
    fields = {"resources": [{"resource_type": 2, "resource_name": name, "configs": [lowered]}], "validate_only": False}
    lower = Send(INCREMENTAL_ALTER_CONFIGS, 1, request_of(INCREMENTAL_ALTER_CONFIGS, fields), settles=True)
    steps: list[Step] = [produced(name, 2, 1), SETTLED, latest(name, 2), StartNode(3), CAUGHT_UP, latest(name, 2), StopNode(3), SETTLED]
    steps += [
        produced(name, 2, 1),
        latest(name, 2),
        lower,
        SETTLED,
        described(name),
        produced(name, 2),
        latest(name, 2),
        StartNode(3),
        CAUGHT_UP,
    ]
    return Case(name, (topic,), (*steps, described(name), latest(name, 2)), (produced(name, 2), StopNode(3), SETTLED))


def _seen_with_a_node_down() -> Case:
    """Descriptions of a stopped node, and answers of followers about producers."""
    name = "replicas.seen"
    topic = Topic(name, {}, ((1, 2),))
    clusters = [
        Send(
            DESCRIBE_CLUSTER,
            version,
            request_of(
                DESCRIBE_CLUSTER,
                {"include_cluster_authorized_operations": False, "endpoint_type": 1, "include_fenced_brokers": version == 2 and fenced},
            ),
        )
        for version in all_versions(DESCRIBE_CLUSTER)
        for fenced in (False, True)
    ]
    followed = [producers(name, node) for node in (1, 2, 3)]
    steps: list[Step] = [
        *followed,
        reassigned(name, [1, 3]),
        CAUGHT_UP,
        *followed,
        StopNode(3),
        SETTLED,
        *clusters,
        StartNode(3),
        CAUGHT_UP,
        *clusters,
    ]
    return Case(name, (topic,), tuple(steps), (produced(name, 1),))
