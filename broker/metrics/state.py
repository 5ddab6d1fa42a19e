"""Metrics of the present state of a cluster that kafka_exporter does not have: `odradek_*`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..cluster.group_progress import progress
from ..scheduling.slices import ITEMS, chunks
from .openmetrics import counter, gauge, labels, samples

if TYPE_CHECKING:
    from ..cluster.state import ClusterState
    from ..connections.core import Core

NODE_UP = gauge("odradek_node_up", "1 if the node serves clients, 0 if it is stopped, paused or isolated.")
CONNECTIONS = gauge("odradek_connections", "Open connections of a listener.")
PARKED = gauge("odradek_parked_requests", "Requests that wait for their response.")
GROUPS = gauge("odradek_groups", "Groups in a state.")
GROUP_LAG = gauge("odradek_group_lag", "Lag of a group over all its partitions; one without a committed offset counts from its start.")
FAULT_HITS = counter("odradek_fault_hits", "Requests and connections that a fault has hit.")
MEMORY = gauge(
    "odradek_memory_bytes",
    "Memory of record batches (logs), of large requests that arrive (requests), of both to be reused (reuse), and of the wire (record).",
)
MEMORY_LIMIT = gauge("odradek_memory_limit_bytes", "The limit of the memory of all logs (--max-memory).")


def pieces(core: Core) -> Iterator[str]:
    """Yields the text, each piece in about a millisecond."""
    cluster = core.cluster
    up = ((labels(node=node.node_id), int(node.running and node.silence is None)) for node in cluster.brokers.values())
    yield NODE_UP.head + samples(NODE_UP.name, up)
    yield from _connections(core)
    groups = Counter((group.type, group.state.value) for group in cluster.groups)
    counted = ((labels(type=kind, state=state), count) for (kind, state), count in sorted(groups.items()))
    yield GROUPS.head + samples(GROUPS.name, counted)
    yield from _lags(cluster)
    faults = core.faults.active if "faults" in vars(core) else ()
    hits = ((labels(fault=fault.number, description=fault.text), fault.hits) for fault in faults)
    yield FAULT_HITS.head + samples(f"{FAULT_HITS.name}_total", hits)
    yield from _memory(core)


def _lags(cluster: ClusterState) -> Iterator[str]:
    yield GROUP_LAG.head
    for group in list(cluster.groups):
        lag = None
        for number, each in enumerate(progress(group, cluster)):
            lag = (lag or 0) + each.lag
            if not number % ITEMS:
                yield ""
        if lag is not None and cluster.groups.get(group.group_id) is group:
            yield samples(GROUP_LAG.name, [(labels(group=group.group_id), lag)])


def _connections(core: Core) -> Iterator[str]:
    open_connections = Counter({(node.node_id, name): 0 for node in core.cluster.brokers.values() for name in node.listeners})
    parked: Counter[tuple[int, str]] = Counter()
    for some in chunks(list(core.connections)):
        for connection in some:
            node_id, waiting = connection.broker.node_id, connection.parked
            open_connections[node_id, connection.client.listener_name] += 1
            if waiting is not None:
                parked[node_id, waiting.header.api.name] += 1
        yield ""
    by_listener = ((labels(node=node, listener=name), count) for (node, name), count in open_connections.items())
    yield CONNECTIONS.head + samples(CONNECTIONS.name, by_listener)
    by_api = ((labels(node=node, api=api), count) for (node, api), count in sorted(parked.items()))
    yield PARKED.head + samples(PARKED.name, by_api)


def _memory(core: Core) -> Iterator[str]:
    cluster, logs = core.cluster, 0
    for some in chunks(list(cluster.topics.partitions())):
        logs += sum(partition.log.size for partition in some)
        yield ""
    requests = sum(node.request_memory.used_bytes for node in cluster.brokers.values())
    record = 0 if core.record is None else core.record.bytes
    kinds = {"logs": logs, "requests": requests, "reuse": cluster.blocks.kept_bytes, "record": record}
    yield MEMORY.head + samples(MEMORY.name, ((labels(kind=kind), size) for kind, size in kinds.items()))
    if cluster.log_memory is not None and cluster.log_memory.limit_bytes is not None:
        yield MEMORY_LIMIT.head + samples(MEMORY_LIMIT.name, [("", cluster.log_memory.limit_bytes)])
