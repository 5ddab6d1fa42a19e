"""The state of a whole cluster as a plain value, and a new cluster with such a state.

`write_cluster` returns the state at one moment between two requests. `read_cluster` builds a new `ClusterState` from it, which replaces the
present one with all its connections. A new object cannot keep anything of the state before by mistake.

Everything that a restart of all brokers would lose is not part of the state: connections and waiting requests, fetch sessions, and the
instances of client telemetry. Static settings and listeners are part of the nodes, so that a cluster can be loaded from a file.

`restore_cluster` makes the new cluster continue the counters of the one that it replaces, whose clients stay and connect again. A restored
state is a new time. An epoch or id that a client knows from the time before must not have another meaning now, so the counters that clients
see never go back:

* All partitions begin a leader epoch above every one that was ever used, also those that are created later. A consumer therefore finds
  out by OffsetForLeaderEpoch where the log that it has read ends (KIP-320).
* Producer ids are not generated again, and transactional ids keep their newest epochs, so that no two producers ever share an id.
* Partitions forget the sequence numbers of producers that have written since then, because the next ones are unknown.
* A group that has changed since then begins an epoch or generation above all that it had, which fences its members. They join again.
* The epoch of the finalized features, which is the length of the metadata log, grows.
* Random numbers go on, also those of a `seed`, so that no id of a topic, a member or a session is generated twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from random import Random
from types import ModuleType
from typing import Any

from ...storage.memory import LogMemory
from ..cluster.broker import Broker
from ..cluster.controller import Brokers, MetadataLog
from ..cluster.coordinator_log import CoordinatorLog
from ..cluster.features import Features
from ..cluster.log_dirs import LogDirs, Move
from ..cluster.nodes import Nodes
from ..cluster.quotas import ClientQuotas
from ..cluster.replica_control import ReplicaControl, ReplicationThrottle
from ..cluster.silence import Silence
from ..cluster.state import ClusterState
from ..cluster.transaction_log import ProducerIds
from ..releases.zookeeper import ZooKeeper
from ..scheduling.turns import Turns
from ..security.acls import Acl, Operation, PatternType, Permission, ResourceType
from ..security.authorizer import Authorizer
from ..settings.cluster_config import ClusterConfig, NodeConfig
from ..settings.listeners import Listener
from ..settings.values import GroupConfig
from ..topics.cleaning import LogCleaner
from ..topics.names import SHARE_GROUP_STATE
from ..topics.retention import LogRetention
from ..topics.topics import Topics
from .coordinators import fill_coordinators, set_timers, write_coordinators, write_timers
from .forms import MOMENT, PLAIN, TUPLE, Form, Plain, Record, Within, coded, mapped, named, optional, ordered
from .topics import OVERRIDES, TOPIC, read_topic

State = dict[str, Plain]
"""The state of a cluster as a plain value (`forms.py`)."""

_PAIRS = mapped(PLAIN, PLAIN)
FEATURES = Record(Features, {"levels": _PAIRS}, apart=("supported",))
METADATA_LOG = Record(MetadataLog, {"_start_ms": MOMENT, "_records": PLAIN}, apart=("_timers", "_config"))
PRODUCER_IDS = Record(ProducerIds, {"next_id": PLAIN}, apart=("_timers", "_partitions", "check"))
_OFFSETS = mapped(PLAIN, mapped(PLAIN, _PAIRS))
ZOOKEEPER = Record(ZooKeeper, {"controller_id": PLAIN, "offsets": _OFFSETS})
_ENTITY = Form(lambda entity: list(map(list, entity)), lambda plain, _: tuple(map(tuple, plain)))
NODES = Record(Brokers, {"silent": ordered()}, apart=("_zookeeper",))
THROTTLE = Record(ReplicationThrottle, {"free_at_ms": mapped(TUPLE, MOMENT)}, apart=("_timers", "_brokers"))
_PARTS = ("_timers", "_config", "_topics", "_brokers", "_metadata_log", "_coordinator_moves")
REPLICA_CONTROL = Record(
    ReplicaControl,
    {"reassignments_held": PLAIN, "throttle": Within(THROTTLE)},
    apart=(*_PARTS, "_write_missing_markers", "_wake"),
)
TOPICS = Record(
    Topics,
    {"version": PLAIN, "first_leader_epoch": PLAIN, "newest_leader_epoch": PLAIN},
    apart=(
        *("_config", "_random", "_nodes", "_new_log", "_count_records", "by_id", "_by_metric_name"),
        *("on_addition", "on_leader_change", "on_change"),
    ),
)
QUOTAS = Record(ClientQuotas, {"_quotas": mapped(_ENTITY, _PAIRS)}, apart=("on_change",))

_OF_TOPICS = {"topics_version": "version", "first_leader_epoch": "first_leader_epoch", "newest_leader_epoch": "newest_leader_epoch"}
"""The state of the topics as a whole, which is written with that of the cluster, by its name there."""

# Classes that are written separately, or that have no state.
AUTHORIZER = Record(Authorizer, {}, apart=("super_users", "_if_no_acl_found", "_acls", "_longest_prefix", "_patterns"))
NODE_CHANGES = Record(Nodes, {}, apart=(*_PARTS, "_replica_control", "_new_broker"))
COORDINATOR_LOG = Record(CoordinatorLog, {}, apart=("_topics", "_timers", "wake", "_hash"))
LOG_RETENTION = Record(LogRetention, {}, apart=("_topics", "_wake", "_tell", "_timers", "check"))
LOG_CLEANER = Record(LogCleaner, {}, apart=("_topics", "_timers", "_background", "_tell", "_running", "check"))

CLUSTER = Record(
    ClusterState,
    {
        "cluster_id": PLAIN,
        "metadata_log": Within(METADATA_LOG),
        "producer_ids": Within(PRODUCER_IDS),
        "replica_control": Within(REPLICA_CONTROL),
        "features": Within(FEATURES),
        "quotas": Within(QUOTAS),
    },
    apart=(
        "changed_logs",
        # Written separately, because their objects refer to the cluster.
        *("brokers", "nodes", "topics", "groups", "group_configs", "metric_subscriptions"),
        "log_levels",  # the levels of the process, which a restart of a node does not keep either
        *("transactions", "accounts", "authorizer", "random", "timers"),
        # References, and indexes that follow from the state.
        *(
            "wake",
            "background",
            *("on_event", "on_topic_deletion"),
            "_controller_parts",
            "config",
            "log_memory",
            "blocks",
            "users",
            *("check_tls", "subjects_of_schema", "checks_schemas"),
            "release",
            "serves",
            "zookeeper",
            "shortcut_allowed",
            "topics_by_id",
            "regexes",
        ),
        *("share_states", "coordinator_log", "log_retention", "log_cleaner", "transaction_log", "coordinator_moves"),
    ),
)

LOG_DIRS = Record(
    LogDirs,
    {
        "placed": mapped(TUPLE, PLAIN),
        "moves": mapped(TUPLE, named(Move, began_ms=MOMENT, counted_ms=MOMENT)),
        "chosen": mapped(TUPLE, PLAIN),
    },
    apart=("_node_id", "_config", "_topics", "_timers"),
)
BROKER = Record(
    Broker,
    {
        "node_id": PLAIN,
        "rack": PLAIN,
        "running": PLAIN,
        "registered": PLAIN,
        "fenced": PLAIN,
        "silence": optional(coded(Silence)),
        "log_dirs": Within(LOG_DIRS),
    },
    apart=(
        *("_accounts", "_metric_subscriptions", "_random", "_share_view", "sasl"),  # follow from the cluster
        *("listeners", "config", "request_max_bytes", "max_idle_ms", "request_memory", "connections", "rack_aware"),
        # Lost in a restart.
        *("client_metrics", "fetch_sessions", "share_partitions"),
    ),
)
_LISTENER_FIELDS = [field.name for field in fields(Listener)]


def write_cluster(cluster: ClusterState) -> State:
    """Returns the state of a cluster. It shares the memory of the logs and does not change afterwards."""
    authorizer = cluster.authorizer
    # Coordinators are created, and their modules imported, when they are first used.
    groups, transactions = cluster.groups_in_use, cluster.transactions_in_use
    accounts, subscriptions = (vars(cluster).get(name) for name in ("accounts", "metric_subscriptions"))
    return {
        "now_ms": cluster.timers.now_ms,
        "as_version": None if cluster.release is None else cluster.release.name,
        "random": _random_state(cluster.random),
        "nodes": [_write_node(broker) for broker in cluster.brokers.values()],
        "silent": NODES.write(cluster.brokers),
        "cluster": CLUSTER.write(cluster) | {name: getattr(cluster.topics, own) for name, own in _OF_TOPICS.items()},
        "zookeeper": None if cluster.zookeeper is None else ZOOKEEPER.write(cluster.zookeeper),
        "coordinators": write_coordinators(cluster),
        "topics": [TOPIC.write(topic) for topic in cluster.topics.values()],
        "group_configs": mapped(PLAIN, OVERRIDES).write(cluster.group_configs),
        "client_metrics": mapped(PLAIN, OVERRIDES).write({} if subscriptions is None else subscriptions.configs),
        "groups": None if groups is None else _groups().write_groups(groups),
        "transactions": None if transactions is None else _transactions().TRANSACTIONS.write(transactions),
        "accounts": None if accounts is None else _accounts().write_accounts(accounts),
        "users": [list(pair) for pair in cluster.users.items()],
        "acls": None if authorizer is None else [list(map(_code, acl)) for acl in authorizer._acls],
        "timers": write_timers(cluster),
    }


def _groups() -> ModuleType:
    from . import groups

    return groups


def _accounts() -> ModuleType:
    from . import accounts

    return accounts


def _transactions() -> ModuleType:
    from . import transactions

    return transactions


def _write_node(broker: Broker) -> Plain:
    return {
        "state": BROKER.write(broker),
        "listeners": [[getattr(listener, name) for name in _LISTENER_FIELDS] for listener in broker.listeners.values()],
        "static": _PAIRS.write(broker.config.static),
        "own": _PAIRS.write(broker.config.own),
        "cluster_wide": _PAIRS.write(broker.config.cluster_wide),
    }


def _code(value: Any) -> Plain:
    return value if isinstance(value, str) else int(value)


def _random_state(random: Random) -> Plain:
    """Returns the state of a seeded generator, None for the system's, which has no state."""
    try:
        version, numbers, gauss = random.getstate()
    except NotImplementedError:
        return None
    return [version, list(numbers), gauss]


def nodes_of(state: State) -> tuple[NodeConfig, ...]:
    """Returns the nodes of a written state, with their listeners and static settings."""
    return tuple(
        NodeConfig(
            node["state"]["node_id"],
            node["state"]["rack"],
            tuple(Listener(*values) for values in node["listeners"]),
            _PAIRS.read(node["static"], 0),
            _protocol_for_clients(node["listeners"][0]),
        )
        for node in state["nodes"]
    )


def users_of(state: State) -> dict[str, str]:
    """Returns the users that were given at the start of a written cluster, with their passwords. Raises ValueError for anything else."""
    users = dict(state["users"])
    if not all(isinstance(text, str) for pair in users.items() for text in pair):
        raise ValueError("the users and their passwords must be texts")
    return users


def _protocol_for_clients(listener: Sequence[Any]) -> str:
    protocol: str = Listener(*listener).security_protocol
    return "" if protocol == "PLAINTEXT" else protocol


def read_cluster(state: State, config: ClusterConfig, turns: Turns[Any], random: Random, memory: LogMemory | None) -> ClusterState:
    """Returns a new cluster with a written state and the nodes of `config`.

    `memory` counts the bytes of the logs. Raises an exception if the state was not written by `write_cluster`.
    """
    shift_ms = turns.timers.now_ms - state["now_ms"]
    users, acls = config.users if state["accounts"] is None else {}, config.acls if state["acls"] is None else ()
    cluster = ClusterState(replace(config, cluster_id=state["cluster"]["cluster_id"], users=users, acls=acls), turns, random, memory)
    _fill_nodes(cluster, state["nodes"], shift_ms)
    NODES.fill(cluster.brokers, state["silent"], shift_ms)  # before the topics, which refer to it
    for written in state["topics"]:
        cluster.topics.add(read_topic(written, cluster.topics, cluster.config, shift_ms))
    TOPICS.fill(cluster.topics, {own: state["cluster"][name] for name, own in _OF_TOPICS.items()}, shift_ms)
    CLUSTER.fill(cluster, {name: plain for name, plain in state["cluster"].items() if name not in _OF_TOPICS}, shift_ms)
    cluster.features.limit()
    if (zookeeper := state["zookeeper"]) is not None and cluster.zookeeper is not None:
        ZOOKEEPER.fill(cluster.zookeeper, zookeeper, shift_ms)
    fill_coordinators(cluster, state["coordinators"])
    cluster.group_configs |= {name: GroupConfig(cluster.config, dict(overrides)) for name, overrides in state["group_configs"]}
    for name, overrides in state["client_metrics"]:
        cluster.alter_client_metrics(name, dict(overrides))
    if state["groups"] is not None:
        _groups().fill_groups(cluster.groups, state["groups"], shift_ms)
    if state["transactions"] is not None:
        _transactions().TRANSACTIONS.fill(cluster.transactions, state["transactions"], shift_ms)
    if state["accounts"] is not None:
        _accounts().fill_accounts(cluster.accounts, state["accounts"], shift_ms)
        cluster.users = config.users  # only now, because their present credentials are part of the state
    entries = [_acl(*written) for written in state["acls"] or ()]
    if cluster.authorizer is not None:
        for entry in entries:
            cluster.authorizer.add(entry)
    if SHARE_GROUP_STATE in cluster.topics:
        cluster.load_share_states()  # now, because its timers belong to the state
    set_timers(cluster, state["timers"])
    if state["random"] is not None:
        version, numbers, gauss = state["random"]
        random.setstate((version, tuple(numbers), gauss))
    return cluster


def _fill_nodes(cluster: ClusterState, nodes: Plain, shift_ms: int) -> None:
    for node in nodes:
        broker = cluster.brokers[node["state"]["node_id"]]
        BROKER.fill(broker, node["state"], shift_ms)
        broker.config.alter(own=_PAIRS.read(node["own"], shift_ms), cluster_wide=_PAIRS.read(node["cluster_wide"], shift_ms))


def _acl(kind: int, name: str, pattern: int, principal: str, host: str, operation: int, permission: int) -> Acl:
    return Acl(ResourceType(kind), name, PatternType(pattern), principal, host, Operation(operation), Permission(permission))


# Taking the place of another cluster


def restore_cluster(
    state: State, config: ClusterConfig, turns: Turns[Any], random: Random, memory: LogMemory | None, former: ClusterState | None
) -> ClusterState:
    """Returns a new cluster with a written state (`read_cluster`) that takes the place of `former`.

    Without `former`, as for a state from a file, the cluster continues the counters of the state.
    """
    cluster = read_cluster(state if former is None else {**state, "random": None}, config, turns, random, memory)
    _continue_from(former or cluster, cluster)
    return cluster


def _continue_from(former: ClusterState, cluster: ClusterState) -> None:
    cluster.topics.begin_leader_epoch(1 + max(former.topics.newest_leader_epoch, cluster.topics.newest_leader_epoch))
    cluster.coordinator_moves.forget_epochs()
    cluster.producer_ids.continue_from(former.producer_ids)
    cluster.metadata_log.continue_from(former.metadata_log)
    for partition in cluster.topics.partitions():
        present = former.topics.find_partition(partition.topic.name, partition.index)
        partition.producers.forget_if_changed(None if present is None else present.producers)
    if (groups := former.groups_in_use) is not None:
        cluster.groups.continue_from(groups, _groups().unchanged_groups(groups, cluster.groups))
    if (transactions := former.transactions_in_use) is not None:
        cluster.transactions.continue_from(transactions)
