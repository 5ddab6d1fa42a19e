"""Makes a restored cluster continue the counters of the one that it replaces, whose clients stay and connect again.

A restored state is a new time. An epoch or id that a client knows from the time before must not have another meaning now, so the counters
that clients see never go back:

* All partitions begin a leader epoch above every one that was ever used, also those that are created later. A consumer therefore finds
  out by OffsetForLeaderEpoch where the log that it has read ends (KIP-320).
* Producer ids are not generated again, and transactional ids keep their newest epochs, so that no two producers ever share an id.
* Partitions forget the sequence numbers of producers that have written since then, because the next ones are unknown.
* A group that has changed since then begins an epoch or generation above all that it had, which fences its members. They join again.
* The epoch of the finalized features, which is the length of the metadata log, grows.
* Random numbers go on, also those of a `seed`, so that no id of a topic, a member or a session is generated twice.
"""

from __future__ import annotations

from random import Random
from typing import Any

from ...storage.memory import LogMemory
from ..cluster.state import ClusterState
from ..scheduling.turns import Turns
from ..settings.cluster_config import ClusterConfig
from .cluster import State, read_cluster


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
    if (groups := vars(former).get("groups")) is not None:
        from .groups import unchanged_groups

        cluster.groups.continue_from(groups, unchanged_groups(groups, cluster.groups))
    if (transactions := vars(former).get("transactions")) is not None:
        cluster.transactions.continue_from(transactions)
