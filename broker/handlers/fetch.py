"""Fetch: reads record batches, also in incremental sessions (KIP-227) and, from v11 on, from followers (KIP-392).

`fetching/read.py` makes one pass over the partitions. This module decides which partitions are read (those of the request, or those of a
session), and when the response is sent: at once if it has `min_bytes`, an error, or if `max_wait_ms` is 0; otherwise it waits.

While it waits, the request stays registered for all its partitions. A Produce wakes it within the same turn of the event loop. If the new
data is not enough for a response, the handler yields the same `Wait` again, which costs nothing for the partitions that were not woken.

Sessions do not affect reading: `cluster/fetch_sessions.py` lists the partitions before the pass, and removes unchanged ones from its result
afterwards.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.frame import encode_response
from ...protocol.messages.fetch import FETCH, FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from ..api.context import Context, node_endpoints
from ..api.registry import handles
from ..cluster.fetch_sessions import FINAL_EPOCH, INITIAL_EPOCH, FetchSession, next_epoch
from ..fetching.fetch_shortcut import learn
from ..fetching.read import TOPIC_IDS_SINCE, FetchRead, distinct
from ..scheduling.waiting import NEXT_TURN, Wait

ISOLATION_LEVELS = (0, 1)
CORRELATION_ID_BYTES = 4


@handles(FETCH)
def fetch(request: FetchRequest, context: Context) -> FetchResponse | Generator[Wait, None, FetchResponse]:
    """Returns the response if the first pass completes it, and otherwise a generator that waits."""
    session, request.topics = None, distinct(request.topics)
    if request.isolation_level not in ISOLATION_LEVELS:
        return _unknown_isolation_level(request, context)
    if context.quotas is not None:
        request.max_bytes = context.quotas.cap_fetch(min(request.max_bytes, context.broker.config.integers["fetch.max.bytes"]))
        request.min_bytes = min(request.min_bytes, request.max_bytes)
    if request.session_epoch in (FINAL_EPOCH, INITIAL_EPOCH):
        if request.session_id:
            context.broker.fetch_sessions.close(request.session_id)
    else:
        try:
            session = _resume_session(request, context)
        except KafkaError as error:
            return FetchResponse(error_code=error.code, responses=[])
    read = _begin(request, context, session)
    if read.is_large:
        return _read_large(read, session)
    read.run()
    if read.only_partition is not None:
        learn(request, read.only_partition, context)
    return _response(read, session) if read.complete or request.max_wait_ms <= 0 else _wait(read, session)


def _unknown_isolation_level(request: FetchRequest, context: Context) -> FetchResponse:
    """Returns UNKNOWN_SERVER_ERROR, as Kafka does; up to v12 also for each partition."""
    code, named = ErrorCode.UNKNOWN_SERVER_ERROR, request.topics if context.version < TOPIC_IDS_SINCE else []
    topics = [
        FetchableTopicResponse(
            topic=topic.topic,
            partitions=[
                PartitionData(partition_index=each.partition, error_code=code, high_watermark=-1, aborted_transactions=[], records=b"")
                for each in topic.partitions
            ],
        )
        for topic in named
    ]
    return FetchResponse(error_code=code, responses=topics)


def _resume_session(request: FetchRequest, context: Context) -> FetchSession | None:
    """Returns the session of an incremental request with its changes applied, or None if no partition is left in it.

    Raises KafkaError with FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH or FETCH_SESSION_TOPIC_ID_ERROR.
    """
    sessions = context.broker.fetch_sessions
    session = sessions.resume(request.session_id, request.session_epoch, topic_ids=context.version >= TOPIC_IDS_SINCE)
    session.update(request.topics, request.forgotten_topics_data, context.cluster.topics.name_of)
    if not len(session):
        sessions.close(session.id)
        return None
    sessions.touch(session, context.now_ms)
    return session


def _begin(request: FetchRequest, context: Context, session: FetchSession | None) -> FetchRead:
    if session is None:
        return FetchRead(request, context, request.topics)
    also_quiet = context.broker.rack_aware and bool(request.rack_id)  # the nearest replica may have changed
    topics, quiet = session.select_partitions(context.cluster.topics.name_of, also_quiet=also_quiet)
    return FetchRead(request, context, topics, quiet)


def _read_large(read: FetchRead, session: FetchSession | None) -> Generator[Wait, None, FetchResponse]:
    """Reads and answers in slices. If many such requests are answered at the same moment, each is in a turn of its own."""
    yield from read.run_in_slices()
    if not read.complete and read.request.max_wait_ms > 0:
        read = yield from _until_complete(read, session)
        yield NEXT_TURN
    return _response(read, session)


def _wait(read: FetchRead, session: FetchSession | None) -> Generator[Wait, None, FetchResponse]:
    return _response((yield from _until_complete(read, session)), session)


def _until_complete(read: FetchRead, session: FetchSession | None) -> Generator[Wait, None, FetchRead]:
    """Waits until the response is complete, one of the partitions can no longer be waited for, or `max_wait_ms` has passed."""
    request, context, wanted = read.request, read.context, len(read.partitions)
    deadline_ms = context.now_ms + request.max_wait_ms
    wait = Wait(read.partitions, deadline_ms, [])
    while not read.complete and context.now_ms < deadline_ms and len(read.partitions) == wanted:
        woken: list[Hashable] = [*read.missed_partitions()]
        if not woken:
            yield wait
            woken = wait.woken or []
        if read.update(woken):
            woken.clear()
        else:
            read = _begin(request, context, session)
            yield from read.run_in_slices()
            wait = Wait(read.partitions, deadline_ms, [])
    return read


def _response(read: FetchRead, session: FetchSession | None) -> FetchResponse:
    """Returns the data that was read; in a session, only the partitions that have changed since its last response.

    Returns INVALID_FETCH_SESSION_EPOCH if the next request of the session was served while this one waited.
    """
    request, context, topics, session_id = read.request, read.context, read.topics, 0
    if context.cluster.release is not None:
        from ..fetching.old_formats import convert

        convert(read)
    if session is not None:
        if session.epoch != next_epoch(request.session_epoch):
            return FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, session_id=session.id, responses=[])
        if _is_throttled(session.preview(topics), session.id, context):
            return FetchResponse(session_id=session.id, responses=[])
        topics, session_id = session.changes(topics, context.cluster.topics.find_partition), session.id
    elif _is_throttled(topics, session_id, context):
        return FetchResponse(responses=[])
    elif request.session_epoch == INITIAL_EPOCH:
        session_id = context.broker.fetch_sessions.open(
            request.topics,
            topics,
            context.cluster.topics.name_of,
            topic_ids=context.version >= TOPIC_IDS_SINCE,
            now_ms=context.now_ms,
        )
    endpoints = node_endpoints(context, read.leaders) if read.leaders else []
    return FetchResponse(session_id=session_id, responses=topics, node_endpoints=endpoints)


def _is_throttled(topics: list[FetchableTopicResponse], session_id: int, context: Context) -> bool:
    """Returns whether the client exceeds a quota by this response. It then gets an empty one, and fetches the same records again."""
    if context.quotas is None:
        return False
    frame = encode_response(FETCH, context.version, 0, FetchResponse(session_id=session_id, responses=topics))
    # Kafka's FetchResponse.sizeOf counts the length field, but not the response header.
    size = sum(map(len, frame)) - CORRELATION_ID_BYTES - FETCH.response_header_version(context.version)
    return not context.quotas.admit_fetch(size)
