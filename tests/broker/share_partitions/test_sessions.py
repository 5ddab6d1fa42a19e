"""Share sessions: epochs, partitions, the limit, and the end of connections."""

from __future__ import annotations

import pytest

from odradek.broker.share_partitions.sessions import MAX_EPOCH, SessionKey, ShareSession, ShareSessions, next_epoch
from odradek.protocol.errors import ErrorCode, KafkaError

KEY, OTHER = SessionKey("g", "m"), SessionKey("g", "n")
FIRST, SECOND = (b"id", 0), (b"id", 1)


def test_epoch_after_the_largest_is_one() -> None:
    assert [next_epoch(epoch) for epoch in (0, 1, MAX_EPOCH)] == [1, 2, 1]


def test_resume_needs_the_next_epoch() -> None:
    sessions = ShareSessions(2)
    with pytest.raises(KafkaError) as refused:
        sessions.resume(KEY, 1)
    assert refused.value.code == ErrorCode.SHARE_SESSION_NOT_FOUND
    session = sessions.open(KEY, [(FIRST, "t")], 1)
    assert sessions.resume(KEY, 1) is session
    with pytest.raises(KafkaError) as refused:
        sessions.resume(KEY, 1)
    assert refused.value.code == ErrorCode.INVALID_SHARE_SESSION_EPOCH


def test_open_beyond_the_limit_is_refused() -> None:
    sessions = ShareSessions(1)
    sessions.open(KEY, [], 1)
    sessions.open(KEY, [], 1)
    with pytest.raises(KafkaError) as refused:
        sessions.open(OTHER, [], 1)
    assert refused.value.code == ErrorCode.SHARE_SESSION_LIMIT_REACHED
    assert len(sessions) == 1


def test_session_tells_what_is_new() -> None:
    session = ShareSession(KEY, [(FIRST, "t"), (SECOND, "t")], 1)
    assert not session.tells(FIRST, records=False, error=False)
    assert session.tells(FIRST, records=False, error=True)
    assert session.tells(FIRST, records=False, error=False), "the end of an error is told"
    assert not session.tells(FIRST, records=False, error=False)
    assert session.tells(FIRST, records=True, error=False)
    assert list(session.partitions) == [SECOND, FIRST], "a partition with records is served last"
    session.update([((b"id", 2), "t"), (SECOND, "t")], [FIRST])
    assert list(session.partitions) == [SECOND, (b"id", 2)]
    assert session.tells((b"id", 2), records=False, error=False), "an added partition is told"
    assert not session.tells(FIRST, records=False, error=False)


def test_connection_has_the_sessions_opened_on_it_last() -> None:
    sessions = ShareSessions(5)
    sessions.open(KEY, [], 1)
    sessions.open(OTHER, [], 1)
    assert sessions.of_connection(1) == [KEY, OTHER]
    sessions.open(OTHER, [], 2)
    assert (sessions.of_connection(1), sessions.of_connection(2)) == ([KEY], [OTHER])
    sessions.remove(KEY)
    assert sessions.of_connection(1) == []


def test_group_exists_as_long_as_it_has_sessions() -> None:
    sessions = ShareSessions(5)
    sessions.open(KEY, [], 1)
    sessions.open(OTHER, [], 1)
    assert sessions.remove(KEY) is not None
    assert sessions.remove(KEY) is None
    assert sessions.has_group("g")
    sessions.remove(OTHER)
    assert not sessions.has_group("g")
