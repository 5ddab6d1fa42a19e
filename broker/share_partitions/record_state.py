"""The states of a record that a share group reads (KIP-932).

    AVAILABLE ──acquired by a member──▶ ACQUIRED ──accepted──▶ ACKNOWLEDGED
        ▲                                  │ │
        └──released, or the lock expired───┘ └──rejected, a gap, or delivered too often──▶ ARCHIVED

A record that is available or acquired is *in flight* until all records before it are acknowledged or archived. ARCHIVING (3), the state of
a record that is on its way to a dead-letter queue, is reserved in Kafka 4.3 but not used.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

NO_MEMBER = ""


class RecordState(IntEnum):
    """The numbers are those of stored records."""

    AVAILABLE = 0
    ACQUIRED = 1
    ACKNOWLEDGED = 2
    ARCHIVED = 4


TERMINAL = (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED)


class AcknowledgeType(IntEnum):
    """The ways in which a member acknowledges records. A gap is an offset without a record; a renewal (KIP-1222) keeps it acquired."""

    GAP = 0
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


STATE_AFTER = {
    AcknowledgeType.GAP: RecordState.ARCHIVED,
    AcknowledgeType.ACCEPT: RecordState.ACKNOWLEDGED,
    AcknowledgeType.RELEASE: RecordState.AVAILABLE,
    AcknowledgeType.REJECT: RecordState.ARCHIVED,
}


class Claim(NamedTuple):
    """The state of some offsets. Acquired ones have a member and the time at which its lock expires (ms since the Unix epoch)."""

    state: RecordState
    delivery_count: int
    member_id: str = NO_MEMBER
    deadline_ms: int = 0

    def after_end(self, state: RecordState, limit: int) -> Claim:
        """Returns the claim after an acquisition ends. A record that was delivered `limit` times is archived instead of available."""
        if state == RecordState.AVAILABLE and self.delivery_count >= limit:
            state = RecordState.ARCHIVED
        return _idle(state, self.delivery_count)

    def after_delivery(self, member_id: str, deadline_ms: int) -> Claim:
        """Returns the claim after a delivery."""
        return Claim(RecordState.ACQUIRED, self.delivery_count + 1, member_id, deadline_ms)


@lru_cache(maxsize=256)
def _idle(state: RecordState, delivery_count: int) -> Claim:
    """Returns the claim of records that no member has acquired. Runs share it, so that a run takes only the memory of its reference."""
    return Claim(state, delivery_count)
