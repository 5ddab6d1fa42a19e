"""ShareFetch and ShareAcknowledge: the records of share groups (KIP-932).

A ShareFetch first applies its acknowledgements, then acquires records, and waits if there are none. Both requests belong to a session,
which they open, advance or end by their epoch. An acknowledgement that fails does not affect other partitions, nor the epoch.

`share_partitions/` holds the sessions and the records, `fetching/share_read.py` reads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import Protocol

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.frame import encode_response
from ...protocol.messages import share_acknowledge
from ...protocol.messages.common import NodeEndpoint
from ...protocol.messages.share_acknowledge import (
    SHARE_ACKNOWLEDGE,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from ...protocol.messages.share_fetch import (
    SHARE_FETCH,
    AcknowledgementBatch,
    CurrentLeader,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from ..api.context import Context, node_endpoints
from ..api.registry import handles
from ..fetching.share_read import Results, ShareRead, partition_data
from ..groups.share.member import is_valid_member_id
from ..scheduling.waiting import Wait
from ..security.acls import Operation, ResourceType
from ..share_partitions.record_state import AcknowledgeType
from ..share_partitions.sessions import FINAL_EPOCH, INITIAL_EPOCH, PartitionKey, SessionKey, ShareSession, next_epoch
from ..share_partitions.share_partition import Acknowledgement
from ..topics.partition import Partition

RENEWALS_SINCE = 2
MOVED = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
CORRELATION_ID_BYTES = 4

Failures = dict[PartitionKey, KafkaError | None]
"""The result of the acknowledgements for each partition; None without an error."""


class _AcknowledgedPartition(Protocol):
    partition_index: int
    acknowledgement_batches: list[AcknowledgementBatch]


class _AcknowledgedTopic(Protocol):
    topic_id: bytes

    @property
    def partitions(self) -> Sequence[_AcknowledgedPartition]: ...


# ShareFetch


@handles(SHARE_FETCH)
def share_fetch(request: ShareFetchRequest, context: Context) -> ShareFetchResponse | Generator[Wait, None, ShareFetchResponse]:
    """Returns the response if the first pass completes it, and otherwise a generator that waits."""
    try:
        fetch = _ShareFetch(request, context)
    except KafkaError as error:
        refusal = ShareFetchResponse(error_code=error.code, responses=[], node_endpoints=[])
        return _refuse_late(refusal, request, context) if error.code == ErrorCode.SHARE_SESSION_LIMIT_REACHED else refusal
    results = fetch.attempt(last=request.max_wait_ms <= 0 and not fetch.commits)
    if fetch.commits:
        fetch.commit()
        results = fetch.attempt(last=request.max_wait_ms <= 0) if results is None else results
    return fetch.wait() if results is None else fetch.response(results)


def _refuse_late(refusal: ShareFetchResponse, request: ShareFetchRequest, context: Context) -> Generator[Wait, None, ShareFetchResponse]:
    """Waits before it refuses a session, so that the client does not ask again at once."""
    yield Wait((), context.now_ms + max(0, request.max_wait_ms))
    return refusal


class _ShareFetch:
    """One ShareFetch request. The constructor raises KafkaError if the request fails as a whole.

    The constructor applies the acknowledgements, because they take effect once, before any record is read, whereas `attempt` is repeated.
    `commits` make the records available that the request has released, after its first pass.
    """

    def __init__(self, request: ShareFetchRequest, context: Context) -> None:
        self.request = request
        self.context = context
        self.key = _check(request, context)
        self.acknowledgements: Failures = {}
        self.commits: list[Callable[[], None]] = []
        renews = request.is_renew_ack
        if renews and (limits := _limits_of_renewal(request)):
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{', '.join(limits)} must be 0 in a request that renews acquisitions.")
        self.session = _session_of(request, self.key, context)
        self.unknown: Results = {}
        partitions = list(self._partitions())
        if any(partition.acknowledgement_batches for topic in request.topics for partition in topic.partitions):
            self.acknowledgements, self.commits = _acknowledge(request.topics, self.key, context, renews=renews)
        if request.share_acquire_mode not in (0, 1):
            self.commit()
            raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, f"{request.share_acquire_mode} is no acquire mode.")
        self.read = ShareRead(request, context, *self.key, [] if renews else _rotate(partitions, request.share_session_epoch))
        if renews:
            self.unknown = {}

    def _partitions(self) -> Iterator[Partition]:
        """Yields the partitions of the session that exist and may be read; the errors of the others are added to `unknown`."""
        context = self.context
        for (topic_id, index), cached in self.session.partitions.items() if self.session else ():
            topic = context.cluster.topics_by_id.get(topic_id)
            partition = topic.partition(index) if topic is not None else None
            if not cached.name:
                self.unknown[topic_id, index] = partition_data(index, ErrorCode.UNKNOWN_TOPIC_ID)
            elif not context.may(Operation.READ, ResourceType.TOPIC, cached.name):
                self.unknown[topic_id, index] = partition_data(index, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            elif partition is None:
                self.unknown[topic_id, index] = partition_data(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            else:
                yield partition

    def commit(self) -> None:
        """Makes the records available that the request has released."""
        for commit in self.commits:
            commit()

    def attempt(self, *, last: bool) -> Results | None:
        """Returns the results of all partitions, None if the request has to wait."""
        return self.read.attempt(last=last)

    def wait(self) -> Generator[Wait, None, ShareFetchResponse]:
        """Waits until the results are complete or `max_wait_ms` has passed."""
        wait = Wait(self.read.keys, self.context.now_ms + self.request.max_wait_ms)
        results = None
        while results is None:
            yield wait
            results = self.attempt(last=wait.deadline_ms is not None and self.context.now_ms >= wait.deadline_ms)
        return self.response(results)

    def response(self, results: Results) -> ShareFetchResponse:
        """Returns the response, with the results of the acknowledgements. The last request of a session ends it."""
        request, context = self.request, self.context
        results |= self.unknown
        code, told = ErrorCode.NONE, results
        if self._is_throttled(results):
            told = {}
        elif self.session is not None and request.share_session_epoch != INITIAL_EPOCH:
            if self.session.epoch != next_epoch(request.share_session_epoch):
                code, told = ErrorCode.INVALID_SHARE_SESSION_EPOCH, {}
            else:
                told = {
                    key: data
                    for key, data in results.items()
                    if self.session.tells(key, records=bool(data.records), error=bool(data.error_code))
                }
        endpoints = _tell_leaders(((key, data.error_code, data.current_leader) for key, data in told.items()), context)
        for key, failure in self.acknowledgements.items():
            data = told.setdefault(key, partition_data(key[1]))
            if failure is not None:
                data.acknowledge_error_code, data.acknowledge_error_message = failure.code, failure.message
        if request.share_session_epoch == FINAL_EPOCH:
            context.broker.share_partitions.end_session(self.key)
        topics: dict[bytes, ShareFetchableTopicResponse] = {}
        for (topic_id, _), data in told.items():
            topics.setdefault(topic_id, ShareFetchableTopicResponse(topic_id=topic_id, partitions=[])).partitions.append(data)
        lock_ms = context.broker.share_partitions.settings(self.key.group_id).record_lock_duration_ms
        return ShareFetchResponse(
            error_code=code, acquisition_lock_timeout_ms=lock_ms, responses=list(topics.values()), node_endpoints=endpoints
        )

    def _is_throttled(self, results: Results) -> bool:
        """Returns whether the response exceeds a quota. The client then gets an empty one; as in Kafka, the records remain acquired."""
        quotas = self.context.quotas
        if quotas is None:
            return False
        topics = [ShareFetchableTopicResponse(topic_id=topic_id, partitions=[data]) for (topic_id, _), data in results.items()]
        version = self.context.version
        frame = encode_response(SHARE_FETCH, version, 0, ShareFetchResponse(responses=topics, node_endpoints=[]))
        return not quotas.admit_fetch(sum(map(len, frame)) - CORRELATION_ID_BYTES - SHARE_FETCH.response_header_version(version))


def _limits_of_renewal(request: ShareFetchRequest) -> list[str]:
    """Returns the names of the limits that are not 0. A request that renews acquisitions fetches nothing (KIP-1222)."""
    return [name for name in ("max_bytes", "min_bytes", "max_records", "max_wait_ms") if getattr(request, name)]


def _session_of(request: ShareFetchRequest, key: SessionKey, context: Context) -> ShareSession | None:
    """Opens or continues the session of a request; None for its last one."""
    manager, epoch = context.broker.share_partitions, request.share_session_epoch
    names = context.cluster.topics.name_of
    added = [((topic.topic_id, each.partition_index), names(topic.topic_id)) for topic in request.topics for each in topic.partitions]
    if epoch == FINAL_EPOCH:
        manager.sessions.get(key)
        return None
    if epoch == INITIAL_EPOCH:
        if any(each.acknowledgement_batches for topic in request.topics for each in topic.partitions):
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        connection_id = context.client.connection_id
        session = manager.open_session(key, added, connection_id)
        context.client.on_close[manager] = partial(manager.disconnected, connection_id)
        return session
    session = manager.sessions.resume(key, epoch)
    session.update(added, ((topic.topic_id, index) for topic in request.forgotten_topics_data for index in topic.partitions))
    return session


def _rotate(partitions: list[Partition], epoch: int) -> list[Partition]:
    """Begins with another partition in each request of a session, so that none of them keeps others from being read."""
    first = epoch % len(partitions) if epoch > 0 and partitions else 0
    return partitions[first:] + partitions[:first]


# ShareAcknowledge


@handles(SHARE_ACKNOWLEDGE)
def share_acknowledge_(request: ShareAcknowledgeRequest, context: Context) -> ShareAcknowledgeResponse:
    """Applies acknowledgements. The last request of a session ends it."""
    manager = context.broker.share_partitions
    try:
        key = _check(request, context)
        if request.share_session_epoch == INITIAL_EPOCH:
            raise KafkaError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        if request.share_session_epoch == FINAL_EPOCH:
            manager.sessions.get(key)
        else:
            manager.sessions.resume(key, request.share_session_epoch)
    except KafkaError as error:
        return ShareAcknowledgeResponse(error_code=error.code, responses=[], node_endpoints=[])
    failures, commits = _acknowledge(request.topics, key, context, renews=request.is_renew_ack)
    for commit in commits:
        commit()
    if request.share_session_epoch == FINAL_EPOCH:
        manager.end_session(key)
    topics: dict[bytes, ShareAcknowledgeTopicResponse] = {}
    told = []
    for (topic_id, index), failure in failures.items():
        data = share_acknowledge.PartitionData(partition_index=index, current_leader=CurrentLeader())
        if failure is not None:
            data.error_code, data.error_message = failure.code, failure.message
        told.append(((topic_id, index), data.error_code, data.current_leader))
        topics.setdefault(topic_id, ShareAcknowledgeTopicResponse(topic_id=topic_id, partitions=[])).partitions.append(data)
    return ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=manager.settings(key.group_id).record_lock_duration_ms,
        responses=list(topics.values()),
        node_endpoints=_tell_leaders(told, context),
    )


# Both


def _check(request: ShareFetchRequest | ShareAcknowledgeRequest, context: Context) -> SessionKey:
    """Returns the key of the session. Raises KafkaError if the client may not use the group, or does not identify itself."""
    group_id, member_id = request.group_id, request.member_id
    if not context.cluster.features.levels.get("share.version", 1):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    if group_id is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    context.demand(Operation.READ, ResourceType.GROUP, group_id)
    if not member_id or not is_valid_member_id(member_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    return SessionKey(group_id, member_id)


def _acknowledge(
    topics: Iterable[_AcknowledgedTopic], key: SessionKey, context: Context, *, renews: bool
) -> tuple[Failures, list[Callable[[], None]]]:
    """Applies the acknowledgements of a request. Returns the result for each partition, and the functions that commit them."""
    named = {(topic.topic_id, each.partition_index): each for topic in topics for each in topic.partitions}
    failures: Failures = {}
    empty: Failures = {}
    commits = []
    for partition_key, wanted in named.items():
        try:
            partition, batches = _check_partition(partition_key[0], wanted, context, renews=renews)
            if batches:
                commits.append(context.broker.share_partitions.acknowledge(key.member_id, key.group_id, partition, batches))
                failures[partition_key] = None
            else:
                empty[partition_key] = None
        except KafkaError as error:
            failures[partition_key] = error
    return (failures | empty if commits else failures), commits


def _check_partition(
    topic_id: bytes, wanted: _AcknowledgedPartition, context: Context, *, renews: bool
) -> tuple[Partition, list[Acknowledgement]]:
    """Returns the partition and its acknowledgements. Raises KafkaError if they are invalid, or if the client may not read the topic."""
    topic = context.cluster.topics_by_id.get(topic_id)
    if topic is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    most = AcknowledgeType.RENEW if context.version >= RENEWALS_SINCE else AcknowledgeType.REJECT
    batches = _ranges(wanted.acknowledgement_batches, AcknowledgeType.REJECT if not renews else most)
    if not context.may(Operation.READ, ResourceType.TOPIC, topic.name):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    partition = topic.partition(wanted.partition_index)
    if partition is None:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    return partition, batches


def _ranges(batches: Iterable[AcknowledgementBatch], most: int) -> list[Acknowledgement]:
    """Returns the ranges of a partition. Ranges that touch and have the same type are joined, because many clients send one per record.

    `most` is the highest type that is allowed. Raises KafkaError with INVALID_REQUEST unless the ranges ascend and have valid types.
    """
    ranges: list[Acknowledgement] = []
    first = before = -1
    same: list[int] | None = None
    for each in batches:
        begin, last, types = each.first_offset, each.last_offset, each.acknowledge_types
        if begin > last or begin < before:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        if len(types) == 1:
            if not 0 <= types[0] <= most:
                raise KafkaError(ErrorCode.INVALID_REQUEST)
            if types == same and begin == before + 1:
                before = last
                ranges[-1] = Acknowledgement(first, last, types)
                continue
            first, same = begin, types
        elif len(types) != last - begin + 1 or min(types) < 0 or max(types) > most:
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        else:
            same = None
        ranges.append(Acknowledgement(begin, last, types))
        before = last
    return ranges


def _tell_leaders(told: Iterable[tuple[PartitionKey, int, CurrentLeader]], context: Context) -> list[NodeEndpoint]:
    """Adds the current leader to each partition that has moved, and returns the addresses of these leaders."""
    leaders = []
    for (topic_id, index), code, leader in told:
        topic = context.cluster.topics_by_id.get(topic_id)
        if code in MOVED and topic is not None and (partition := topic.partition(index)) is not None:
            leader.leader_id, leader.leader_epoch = partition.leader, partition.leader_epoch
            leaders.append(partition.leader)
    return node_endpoints(context, leaders)
