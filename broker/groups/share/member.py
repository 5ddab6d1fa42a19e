"""One member of a share group: its metadata, its epoch and its assignment."""

from __future__ import annotations

from ....protocol.errors import ErrorCode, KafkaError
from .assignor import NO_PARTITIONS, Assignment
from .heartbeat import ShareHeartbeat

MAX_MEMBER_ID_LENGTH = 36
"""The length of a UUID as text, in UTF-16 code units."""


def is_valid_member_id(member_id: str) -> bool:
    """Returns whether a member id is neither empty nor longer than MAX_MEMBER_ID_LENGTH."""
    return 0 < len(member_id.encode("utf-16-le", "surrogatepass")) // 2 <= MAX_MEMBER_ID_LENGTH


class ShareMember:
    """One member. `previous_epoch` is -1 until the member has got its first assignment, even an empty one."""

    __slots__ = ("assigned", "client_host", "client_id", "epoch", "member_id", "previous_epoch", "rack_id", "topics")

    def __init__(self, member_id: str) -> None:
        self.member_id = member_id
        self.rack_id: str | None = None
        self.client_id = self.client_host = ""
        self.topics: frozenset[str] = frozenset()
        self.epoch, self.previous_epoch = 0, -1
        self.assigned: Assignment = NO_PARTITIONS

    def update(self, heartbeat: ShareHeartbeat) -> bool:
        """Applies the metadata of a heartbeat. Returns whether it has changed."""
        changed = self.would_change(heartbeat)
        self.rack_id = self.rack_id if heartbeat.rack_id is None else heartbeat.rack_id
        self.topics = self.topics if heartbeat.topics is None else heartbeat.topics
        self.client_id, self.client_host = heartbeat.client_id, heartbeat.client_host
        return changed

    def would_change(self, heartbeat: ShareHeartbeat) -> bool:
        """Returns the same as `update` without changing the member."""
        return (
            (heartbeat.rack_id is not None and heartbeat.rack_id != self.rack_id)
            or (heartbeat.topics is not None and heartbeat.topics != self.topics)
            or heartbeat.client_id != self.client_id
            or heartbeat.client_host != self.client_host
        )

    def check_epoch(self, epoch: int) -> None:
        """Raises KafkaError with FENCED_MEMBER_EPOCH if a heartbeat is of another epoch.

        Epoch 0 means that the member joins again. The previous epoch is accepted as well, because the member may not have received the
        last response.
        """
        if epoch in (0, self.epoch, self.previous_epoch) and epoch <= self.epoch:
            return
        size, mismatch = "greater", ""
        if epoch < self.epoch:
            size, mismatch = "smaller", f", and it does not match the previous member epoch ({self.previous_epoch})"
        raise KafkaError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            f"The share group member has a {size} member epoch ({epoch}) than the one known by the group coordinator"
            f" ({self.epoch}){mismatch}. The member must abandon all its partitions and rejoin.",
        )

    def advance_to(self, epoch: int) -> None:
        """Sets the epoch and stores the previous one for `check_epoch`."""
        self.previous_epoch, self.epoch = self.epoch, epoch
