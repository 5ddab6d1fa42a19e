"""The faults that can happen at the requests of each API, and why Apache Kafka can produce each of them.

Each fault is a history of a correct cluster: a connection, a node, a leader, a coordinator, a member or a transaction changes at the moment
when the request is served. None is an invented error code. A fault that a client cannot tell from another one at the same request is left
out: a response to a read may as well be lost before the read. Requests are left out that the client alone has to master, because they say
nothing about a service: those for metadata, and lost responses to a JoinGroup, after which the group waits until the session of the lost
member expires.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import NamedTuple

from .points import RequestPoint
from .roles import MEMBER
from .topology import ClusterTopology

LATE_MS = 500
"""How late a late response is: longer than a round trip, shorter than the time-outs that clients have by default."""


_COORDINATED = ("JoinGroup", "OffsetCommit", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat")
"""Without OffsetFetch, because some clients never look for the committed offset again, and no service can do anything about that."""
JOINS = ("JoinGroup", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat")
"""The APIs by which a client becomes a member of a group."""
_TRANSACTION_COORDINATED = ("AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn")
_IN_TRANSACTION = ("Produce", "AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "EndTxn")
_LED = ("Produce", "Fetch", "ShareFetch", "ShareAcknowledge")
ADMIN_WRITES = (
    "CreateTopics",
    "DeleteTopics",
    "CreatePartitions",
    "DeleteRecords",
    "IncrementalAlterConfigs",
    "AlterConfigs",
    "CreateAcls",
    "DeleteAcls",
    "DeleteGroups",
    "OffsetDelete",
    "AlterClientQuotas",
    "AlterUserScramCredentials",
    "AlterPartitionReassignments",
)
WRITES = (
    "Produce",
    "OffsetCommit",
    "TxnOffsetCommit",
    "EndTxn",
    "ShareAcknowledge",
    "AddPartitionsToTxn",
    "AddOffsetsToTxn",
    "InitProducerId",
    *ADMIN_WRITES,
)
"""The APIs whose requests change something, so that it matters whether they were served."""
_FENCED = ("Fenced", "FENCED", "fenced", "InvalidProducerEpoch", "INVALID_PRODUCER_EPOCH", "InvalidPidMapping")
"""How clients call the error after which a transactional producer must not go on."""
_TOO_LARGE = ("MSG_SIZE_TOO_LARGE", "MessageSizeTooLarge", "RecordTooLarge", "MESSAGE_TOO_LARGE")
"""How clients call the error of a topic that refuses records for their size."""
_READS = ("Fetch", "OffsetFetch", "ListOffsets", "ShareFetch")


class PossibleFault(NamedTuple):
    """A fault: its name, what happens in words about a request, why it can happen, and how telling it is.

    A fault with a higher `weight` is tried earlier. `applies` says at which points of a cluster it can happen. `excused` are parts of
    messages with which a correct client may end, because the fault tells it to stop. A rare fault breaks what most services rely on, so
    that it is tried only for tests that ask for it.
    """

    name: str
    words: str
    reason: str
    weight: int
    applies: Callable[[RequestPoint, ClusterTopology], bool]
    excused: tuple[str, ...] = ()
    is_rare: bool = False

    def tell(self, request: str) -> str:
        """Returns what happened at a request such as "OffsetCommit 1", in words."""
        return self.words.format(request=request)


def _of(*apis: str) -> Callable[[RequestPoint, ClusterTopology], bool]:
    return lambda point, _: point.api in apis


def _is_answered_write(point: RequestPoint, _: ClusterTopology) -> bool:
    return point.api in WRITES and point.acks != 0


def _has_unreplicated_acks(point: RequestPoint, topology: ClusterTopology) -> bool:
    return point.api == "Produce" and point.acks in (0, 1) and any(_replicas(topology, name) > 1 for name in point.topics)


def _replicas(topology: ClusterTopology, topic: str) -> int:
    return topology.topics[topic].replicas if topic in topology.topics else 1


def _is_not_idempotent(point: RequestPoint, _: ClusterTopology) -> bool:
    return point.api == "Produce" and point.acks != 0 and not point.is_idempotent


def _is_led(point: RequestPoint, topology: ClusterTopology) -> bool:
    return point.api in _LED and topology.nodes > 1


def _is_coordinated(point: RequestPoint, topology: ClusterTopology) -> bool:
    if topology.nodes == 1:
        return False
    coordinates_transaction = point.api in _TRANSACTION_COORDINATED or (point.api == "InitProducerId" and point.is_transactional)
    is_later_heartbeat = point.api == "Heartbeat" and point.number > 1  # the first one may come before OffsetFetch
    return coordinates_transaction or is_later_heartbeat or point.api in (*_COORDINATED, "TxnOffsetCommit")


def _has_session(point: RequestPoint, topology: ClusterTopology) -> bool:
    if point.api in ("Fetch", "OffsetCommit"):
        return point.role.kind == MEMBER and point.role.name in topology.joined
    return point.api in ("Heartbeat", "TxnOffsetCommit", "ConsumerGroupHeartbeat", "ShareGroupHeartbeat")


def _is_commit_of_member(point: RequestPoint, topology: ClusterTopology) -> bool:
    return point.api == "OffsetCommit" and _has_session(point, topology)


def _is_awaited(*apis: str) -> Callable[[RequestPoint, ClusterTopology], bool]:
    """Returns whether a request is one of some APIs. Only the client waits for the producer id of a producer without transactions."""
    return lambda point, _: point.api in apis and (point.api != "InitProducerId" or point.is_transactional)


def _is_in_transaction(point: RequestPoint, _: ClusterTopology) -> bool:
    return point.api in _IN_TRANSACTION and point.is_transactional


def _has_several_instances(point: RequestPoint, topology: ClusterTopology) -> bool:
    return _is_in_transaction(point, topology) and topology.initialized.get(point.role.name, 0) > 1


def _has_several_partitions(point: RequestPoint, topology: ClusterTopology) -> bool:
    return point.api in ("Produce", "Fetch") and any(
        topology.topics[name].partitions > 1 for name in point.topics if name in topology.topics
    )


FAULTS: Mapping[str, PossibleFault] = {
    each.name: each
    for each in (
        PossibleFault(
            "lost-response",
            "the response to {request} was lost",
            "TCP: a connection can end after the broker has served a request. Clients send it again (KIP-98 for producers).",
            100,
            _is_answered_write,
        ),
        PossibleFault(
            "cut-off",
            "the response to {request} was lost, and the session of the member expired before it came back",
            "The network of a client fails for longer than session.timeout.ms. The offsets are committed, but the client hears that it has"
            " been removed (UNKNOWN_MEMBER_ID).",
            97,
            _is_commit_of_member,
        ),
        PossibleFault(
            "session-expired",
            "the session of the member had expired when {request} arrived",
            "A member that is silent for session.timeout.ms is removed (GroupCoordinator; KIP-848), and goes on without knowing it.",
            95,
            _has_session,
        ),
        PossibleFault(
            "leader-lost",
            "the leader failed before its followers had copied the records of {request}",
            "Records that are not in all in-sync replicas are truncated after an election (KIP-101); acks=1 does not wait for them.",
            92,
            _has_unreplicated_acks,
        ),
        PossibleFault(
            "transaction-timed-out",
            "the transaction was aborted by its time-out when {request} arrived",
            "TransactionCoordinator aborts transactions that are open for transaction.timeout.ms, and raises the producer epoch (KIP-588).",
            90,
            _is_in_transaction,
            _FENCED,
        ),
        PossibleFault(
            "rebalance",
            "the group rebalanced when {request} arrived",
            "Another member joins and leaves, as while instances are replaced (GroupCoordinator, PREPARING_REBALANCE). Eager members give"
            " all partitions back and go on at the committed offsets.",
            88,
            _of("Heartbeat"),
        ),
        PossibleFault(
            "reset",
            "the connection was reset before {request} was served",
            "TCP: a connection can end before the broker has read a request.",
            80,
            _of(*WRITES, *_READS),
        ),
        PossibleFault(
            "coordinator-moves",
            "the coordinator moved to another node when {request} arrived",
            "The leader of a partition of __consumer_offsets or __transaction_state changes (NOT_COORDINATOR).",
            78,
            _is_coordinated,
        ),
        PossibleFault(
            "leader-moves",
            "the leader moved to another node when {request} arrived",
            "A preferred election, a reassignment or a controlled shutdown moves leaders (NOT_LEADER_OR_FOLLOWER; KIP-320).",
            75,
            _is_led,
        ),
        PossibleFault(
            "crash-after",
            "the node crashed when it had served {request}, and returned",
            "A broker process ends without controlled shutdown; its partitions elect leaders, and the response is lost.",
            70,
            _is_answered_write,
        ),
        PossibleFault(
            "crash-before",
            "the node crashed when {request} arrived, and returned",
            "A broker process ends without controlled shutdown; its partitions elect leaders.",
            60,
            _of("Fetch", "ShareFetch", "EndTxn"),
        ),
        PossibleFault(
            "sent-twice",
            "the records of {request} arrived twice",
            "Without idempotence, brokers append a batch that is sent again (KIP-98): its first acknowledgement was lost.",
            58,
            _is_not_idempotent,
        ),
        PossibleFault(
            "fenced",
            "a newer producer with the same transactional id had fenced the producer when {request} arrived",
            "InitProducerId of another instance raises the epoch (KIP-98). Only if a test has several instances.",
            55,
            _has_several_instances,
            _FENCED,
        ),
        PossibleFault(
            "partitions-grow",
            "the topic got one more partition, and the connection was reset, when {request} arrived",
            "CreatePartitions of an administrator. Only topics with several partitions, because a single one promises a total order.",
            45,
            _has_several_partitions,
        ),
        PossibleFault(
            "late",
            f"the response to {{request}} came {LATE_MS} ms late",
            "Pauses of a broker (garbage collection, disk) and of the network.",
            20,
            _is_awaited(*WRITES, *_READS, *_COORDINATED),
        ),
        PossibleFault(
            "refused",
            "the topic refused the records of {request}",
            "An administrator has lowered max.message.bytes (MESSAGE_TOO_LARGE). It stands for all errors after which a producer gives up.",
            99,
            _of("Produce"),
            _TOO_LARGE,
            is_rare=True,
        ),
        PossibleFault(
            "no-response",
            "the response to {request} never came",
            "A firewall drops packets or a broker freezes: the client waits for its request time-out, which is 30 s or more by default.",
            98,
            _is_awaited(*WRITES, *_READS),
            is_rare=True,
        ),
        PossibleFault(
            "records-expired",
            "all records but the last one had expired when {request} arrived",
            "Retention deletes old segments, however far consumers have come (UnifiedLog); so does an administrator (KIP-107).",
            96,
            _of("ListOffsets", "Fetch"),
            is_rare=True,
        ),
        PossibleFault(
            "offsets-expired",
            "the committed offsets of the group had expired when {request} arrived",
            "A group was empty for offsets.retention.minutes, seven days by default (GroupMetadataManager).",
            94,
            _of("OffsetFetch"),
            is_rare=True,
        ),
    )
}
"""All faults by their names, the most telling ones first, the rare ones last."""


def faults_at(point: RequestPoint, topology: ClusterTopology, also: Container[str] = ()) -> list[PossibleFault]:
    """Returns the faults that can happen at a point, in the order of the table. `also` names the rare ones that are asked for."""
    return [fault for fault in FAULTS.values() if fault.applies(point, topology) and (not fault.is_rare or fault.name in also)]
