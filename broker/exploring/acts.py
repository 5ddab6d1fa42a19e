"""The acts of the faults of the table: changes of a cluster when a request arrives. A crash closes sockets, which `crash` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ...protocol.frame import Buffer
from ...protocol.schema import Message
from ..api.gate import Answering, Asked
from ..api.registry import CloseConnection
from ..faults.acts import Act, Deliver, Delivering, Serve, wait_keeping_open
from ..faults.delivery import Delay, Drop
from ..faults.elements import Element, Elements
from ..faults.presets import move_anywhere
from ..groups.classic.group import ClassicGroup
from ..groups.states import GroupState
from ..topics.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from ..topics.partition import Partition
from ..transactions.transaction import TransactionState
from .table import LATE_MS

if TYPE_CHECKING:
    from ..faults.table import Faults
    from ..groups.coordinator import Group
    from ..transactions.coordinator import Transactions
    from ..transactions.transaction import Transaction

ABSENCE_MS = 1000
"""How long a member of several is away after its session has expired: long enough for the others to join again and to go on."""
Crash = Callable[[int], None]
"""A function that ends a node without controlled shutdown after the present turn, and starts it again."""


class PointAct(Act):
    """An act that may be impossible when its request arrives, because the cluster is not in the state that it needs.

    It finds the cluster in the request, because a reset replaces the cluster but not the faults at points.
    """

    def is_possible(self, _asked: Asked, _request: Message) -> bool:
        """Returns whether the cluster is in the state that the act needs."""
        return True


def partitions_of(asked: Asked, request: Message) -> Iterator[Partition]:
    """Yields the partitions that a request names."""
    cluster = asked.context.cluster
    for element in elements_of(asked, request):
        topic = None if element.topic is None else cluster.topics.get(element.topic)
        if topic is not None:
            found = topic.partitions if element.partition is None else [topic.partition(element.partition)]
            yield from (partition for partition in found if partition is not None)


def elements_of(asked: Asked, request: Message) -> list[Element]:
    """Returns what a request is about, at least one element."""
    return Elements(asked.context.cluster).of(request, asked.context.broker)


class CrashNode(Drop):
    """The node of the connection crashes before or after it has served the request, and returns."""

    def __init__(self, stage: str, crash: Crash) -> None:
        super().__init__(stage, "rst")
        self._crash = crash

    def deliver(self, asked: Asked, parts: list[Buffer], rest: Deliver) -> Delivering:
        self._crash(asked.context.broker.node_id)
        yield from super().deliver(asked, parts, rest)


class MoveLeaders(PointAct):
    """The partitions of the request are led by another node when it is served."""

    def is_possible(self, asked: Asked, request: Message) -> bool:
        return len(asked.context.cluster.brokers.running) > 1 and any(True for _ in partitions_of(asked, request))

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        for partition in dict.fromkeys(partitions_of(asked, request)):
            move_anywhere(asked.context.cluster, partition)
        return (yield from rest(request))


class LoseLeader(PointAct):
    """The leader fails after it has answered: another replica leads, which has not copied the records of the request."""

    def is_possible(self, asked: Asked, request: Message) -> bool:
        return any(followers_of(asked, partition) for partition in partitions_of(asked, request))

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        for partition in partitions_of(asked, request):
            for node_id in followers_of(asked, partition):
                asked.context.cluster.replica_control.lag(partition, node_id, 0)
        return (yield from rest(request))

    def deliver(self, asked: Asked, parts: list[Buffer], rest: Deliver) -> Delivering:
        yield from rest(parts)
        for partition in partitions_of(asked, asked.request):
            followers = followers_of(asked, partition)
            if followers:
                asked.context.cluster.replica_control.move_leader(partition, followers[0])
            for node_id in followers:
                asked.context.cluster.replica_control.end_lag(partition, node_id)


def followers_of(asked: Asked, partition: Partition) -> list[int]:
    """Returns the nodes that follow a partition in sync."""
    running = asked.context.cluster.brokers.running
    return [node_id for node_id in partition.isr if node_id != partition.leader and node_id in running]


class MoveCoordinator(PointAct):
    """The coordinator of the group or transactional id is another node when the request is served."""

    def is_possible(self, asked: Asked, request: Message) -> bool:
        return len(asked.context.cluster.brokers.running) > 1 and self._partition(asked, request) is not None

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        partition = self._partition(asked, request)
        if partition is not None:
            move_anywhere(asked.context.cluster, partition)
        return (yield from rest(request))

    def _partition(self, asked: Asked, request: Message) -> Partition | None:
        """Returns the partition whose leader coordinates. TxnOffsetCommit goes to the coordinator of its group."""
        element = elements_of(asked, request)[0]
        if element.group is not None and asked.header.api.name != "AddOffsetsToTxn":
            return asked.context.cluster.coordinator_log.partition(element.group, CONSUMER_OFFSETS)
        if element.transactional_id is not None:
            return asked.context.cluster.coordinator_log.partition(element.transactional_id, TRANSACTION_STATE)
        return None


class ExpireSession(PointAct):
    """The member was removed from its group before its request arrives, because it has been silent for too long.

    If the group has other members, the request arrives ABSENCE_MS later, so that they have taken over the work of the member.
    """

    def is_possible(self, asked: Asked, request: Message) -> bool:
        return any(True for _ in self._sessions(asked, request))

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        groups = self._expire(asked, request)
        end_ms = asked.context.now_ms + ABSENCE_MS
        while any(group.members for group in groups) and asked.context.now_ms < end_ms:
            yield wait_keeping_open(asked.channel, asked.context, self, "the return of a member that is away", end_ms)
        return (yield from rest(request))

    def _expire(self, asked: Asked, request: Message) -> list[Group]:
        """Removes the member, and returns the groups of which it was one."""
        sessions = list(self._sessions(asked, request))
        for group, member_id in sessions:
            asked.context.cluster.timers.cancel(("session", group.group_id, member_id))
            group.timer_action("session", member_id)()
        return [group for group, _ in sessions]

    def _sessions(self, asked: Asked, request: Message) -> Iterator[tuple[Group, str]]:
        """Yields the group and the id of the member that the request names; of a Fetch, which names none, those of its client id."""
        member_id: str = getattr(request, "member_id", "")
        timers = asked.context.cluster.timers
        for group in asked.context.cluster.groups:
            members: list[Any] = list(group.members.values())  # of any kind of group
            for member in members:
                is_meant = member.member_id == member_id if member_id else member.client_id == asked.header.client_id
                if is_meant and ("session", group.group_id, member.member_id) in timers:
                    yield group, member.member_id


class CutOffMember(ExpireSession):
    """The request is served, but its response is lost, and the member is removed before it comes back."""

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        yield from rest(request)
        self._expire(asked, request)
        return None

    def deliver(self, _asked: Asked, _parts: list[Buffer], _rest: Deliver) -> Delivering:
        yield from ()
        raise CloseConnection("the response is lost and the member is removed", reset=True)


class Rebalance(PointAct):
    """The members of the group, which has the classic protocol and is stable, have to join again."""

    def is_possible(self, asked: Asked, request: Message) -> bool:
        return self._stable_group(asked, request) is not None

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        group = self._stable_group(asked, request)
        if group is not None:
            group.rebalance("a member has joined and left")
        return (yield from rest(request))

    def _stable_group(self, asked: Asked, request: Message) -> ClassicGroup | None:
        group = asked.context.cluster.groups.get(_group_id(asked, request))
        return group if isinstance(group, ClassicGroup) and group.state is GroupState.STABLE else None


class TransactionAct(PointAct):
    """An act on the transaction of the request."""

    def is_possible(self, asked: Asked, request: Message) -> bool:
        return self._transaction(asked, request) is not None

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        transaction = self._transaction(asked, request)
        if transaction is not None:
            self._act(asked.context.cluster.transactions, transaction)
        return (yield from rest(request))

    def _transaction(self, asked: Asked, request: Message) -> Transaction | None:
        element = elements_of(asked, request)[0]
        return None if element.transactional_id is None else asked.context.cluster.transactions.get(element.transactional_id)

    def _act(self, transactions: Transactions, transaction: Transaction) -> None:
        raise NotImplementedError


class TimeOutTransaction(TransactionAct):
    """The coordinator has aborted the open transaction, because it took longer than transaction.timeout.ms."""

    def is_possible(self, asked: Asked, request: Message) -> bool:
        transaction = self._transaction(asked, request)
        return transaction is not None and transaction.state is TransactionState.ONGOING

    def _act(self, transactions: Transactions, transaction: Transaction) -> None:
        transactions.timer_action("transaction", transaction)()


class FenceProducer(TransactionAct):
    """Another producer has initialized the same transactional id, which first aborts an open transaction."""

    def _act(self, transactions: Transactions, transaction: Transaction) -> None:
        if transaction.state is TransactionState.ONGOING:
            transactions.init_producer_id(transaction.transactional_id, transaction.timeout_ms)
        transactions.init_producer_id(transaction.transactional_id, transaction.timeout_ms)


class SendTwice(Act):
    """The request is served twice: its producer has sent it again, because it did not get the first response."""

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        header = asked.header
        frame = memoryview(bytearray(asked.context.frame))
        first = header.api.request.decoders[header.version](frame, header.position)[0]
        yield from rest(first)
        return (yield from rest(request))


class RefuseRecords(PointAct):
    """The topics of the request have max.message.bytes=0 while it is served."""

    def is_possible(self, asked: Asked, request: Message) -> bool:
        return any(True for _ in partitions_of(asked, request))

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        cluster = asked.context.cluster
        topics = {partition.topic: dict(partition.topic.config.overrides) for partition in partitions_of(asked, request)}
        for topic, overrides in topics.items():
            cluster.alter_topic(topic, overrides | {"max.message.bytes": "0"})
        try:
            return (yield from rest(request))
        finally:
            for topic, overrides in topics.items():
                cluster.alter_topic(topic, overrides)


class ExpireRecords(PointAct):
    """The partitions of the request have only their last record."""

    def is_possible(self, asked: Asked, request: Message) -> bool:
        return any(_has_several_records(partition) for partition in partitions_of(asked, request))

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        for partition in filter(_has_several_records, partitions_of(asked, request)):
            partition.delete_before(partition.high_watermark - 1)
            asked.context.cluster.wake(partition)
        return (yield from rest(request))


def _has_several_records(partition: Partition) -> bool:
    return "delete" in partition.topic.config.lists["cleanup.policy"] and partition.high_watermark - partition.log.start_offset > 1


class ExpireOffsets(PointAct):
    """The group has no committed offsets any more. Only a group that was empty before the client came can have lost them."""

    def is_possible(self, asked: Asked, request: Message) -> bool:
        groups = asked.context.cluster.groups
        group = groups.get(_group_id(asked, request))
        return (group is None or len(group.members) <= 1) and len(groups.offsets.of(_group_id(asked, request))) > 0

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        asked.context.cluster.groups.offsets.delete_all(_group_id(asked, request))
        return (yield from rest(request))


def _group_id(asked: Asked, request: Message) -> str:
    return elements_of(asked, request)[0].group or ""


class GrowTopics(PointAct):
    """Each topic of the request that has several partitions gets one more, and the connection is reset, so that the client looks again."""

    def is_possible(self, asked: Asked, request: Message) -> bool:
        return any(len(partition.topic.partitions) > 1 for partition in partitions_of(asked, request))

    def serve(self, asked: Asked, request: Message, _rest: Serve) -> Answering:
        yield from ()
        topics = asked.context.cluster.topics
        for topic in {partition.topic.name: partition.topic for partition in partitions_of(asked, request)}.values():
            if len(topic.partitions) > 1:
                topics.add_partitions(topic, topics.place_partitions(topic, len(topic.partitions) + 1, None))
        return None

    def deliver(self, _asked: Asked, _parts: list[Buffer], _rest: Deliver) -> Delivering:
        yield from ()
        raise CloseConnection("the topic has grown and the connection is reset", reset=True)


def act_of(fault: str, faults: Faults, crash: Crash) -> Act:
    """Returns the act of a fault of the table."""
    match fault:
        case "lost-response":
            return Drop("after", "rst")
        case "reset":
            return Drop("before", "rst")
        case "no-response":
            return Drop("after", None)
        case "late":
            return Delay(LATE_MS, 0, faults.cluster.random)
        case "sent-twice":
            return SendTwice()
        case "crash-after" | "crash-before":
            return CrashNode(fault.removeprefix("crash-"), crash)
    return _POINT_ACTS[fault]()


_POINT_ACTS: dict[str, type[PointAct]] = {
    "cut-off": CutOffMember,
    "session-expired": ExpireSession,
    "rebalance": Rebalance,
    "leader-lost": LoseLeader,
    "transaction-timed-out": TimeOutTransaction,
    "coordinator-moves": MoveCoordinator,
    "leader-moves": MoveLeaders,
    "fenced": FenceProducer,
    "partitions-grow": GrowTopics,
    "refused": RefuseRecords,
    "records-expired": ExpireRecords,
    "offsets-expired": ExpireOffsets,
}
