"""The `server.properties` of an exported node."""

from __future__ import annotations

from collections.abc import Mapping

from ..cluster.state import ClusterState
from ..topics.names import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE

FIRST_PORT, CONTROLLER_PORT = 9092, 19092
_LEFT_OUT = (
    *("listener", "advertised.", "host.name", "port", "ssl.", "sasl.", "security.", "node.id", "broker.id", "process.roles"),
    *("controller.", "log.dir", "zookeeper.", "inter.broker.", "early.start.", "metadata.log.dir", "control.plane.", "super.users"),
)
"""The beginnings of the names of settings that belong to the listeners and files of the emulated node."""


def server_properties(cluster: ClusterState, node_id: int) -> Mapping[str, str]:
    """Returns the settings of a node without `log.dirs`. It listens without encryption on this machine, from port 9092 on.

    The first node is the controller too. Internal topics keep their numbers of partitions, because coordinators are found by these.
    """
    ids, broker = list(cluster.brokers), cluster.brokers[node_id]
    position, is_controller = ids.index(node_id), node_id == ids[0]
    listeners = [f"PLAINTEXT://127.0.0.1:{FIRST_PORT + position}"]
    if is_controller:
        listeners.append(f"CONTROLLER://127.0.0.1:{CONTROLLER_PORT}")
    static = {name: text for name, text in broker.config.static.items() if not name.startswith(_LEFT_OUT)}
    return {
        "process.roles": "broker,controller" if is_controller else "broker",
        "node.id": str(node_id),
        "listeners": ",".join(listeners),
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.voters": f"{ids[0]}@127.0.0.1:{CONTROLLER_PORT}",
        **static,
        **({"broker.rack": broker.rack} if broker.rack else {}),
        **_internal_topics(cluster),
        **_super_users(cluster),
    }


def _internal_topics(cluster: ClusterState) -> Mapping[str, str]:
    settings, nodes = {}, len(cluster.brokers)
    for topic_name, prefix in (
        (CONSUMER_OFFSETS, "offsets.topic"),
        (TRANSACTION_STATE, "transaction.state.log"),
        (SHARE_GROUP_STATE, "share.coordinator.state.topic"),
    ):
        topic, names = cluster.topics.get(topic_name), (f"{prefix}.num.partitions", f"{prefix}.replication.factor")
        settings[names[0]] = str(len(topic.partitions) if topic else cluster.config.integers[names[0]])
        settings[names[1]] = str(min(nodes, cluster.config.integers[names[1]]))
    for name in ("transaction.state.log.min.isr", "share.coordinator.state.topic.min.isr"):
        settings[name] = str(min(nodes, cluster.config.integers[name]))
    return settings


def _super_users(cluster: ClusterState) -> Mapping[str, str]:
    """Returns the super users of a cluster with ACLs. The nodes are one of them, because they reach each other without authentication."""
    if cluster.authorizer is None:
        return {}
    return {"super.users": ";".join(dict.fromkeys([*sorted(cluster.authorizer.super_users), "User:ANONYMOUS"]))}
