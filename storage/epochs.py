"""The offsets at which the leader epochs of one partition begin (KIP-101; Kafka's LeaderEpochFileCache)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

NO_EPOCH = -1
NO_OFFSET = -1


class LeaderEpochs:
    """Epochs and the offsets at which they start, both strictly ascending."""

    __slots__ = ("_epochs", "_starts", "latest")

    def __init__(self) -> None:
        self.latest = NO_EPOCH
        self._epochs: list[int] = []
        self._starts: list[int] = []

    def begin(self, epoch: int, start_offset: int) -> None:
        """Starts `epoch` at `start_offset`. Epochs without records, and those that are not older, are removed."""
        if epoch == self.latest:
            return
        while self._epochs and (self._epochs[-1] >= epoch or self._starts[-1] >= start_offset):
            self._pop()
        self._epochs.append(epoch)
        self._starts.append(start_offset)
        self.latest = epoch

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Iterates over (epoch, the offset at which it starts)."""
        return zip(self._epochs, self._starts, strict=True)

    @property
    def latest_start(self) -> int:
        """The offset at which the latest epoch starts. There must be one."""
        return self._starts[-1]

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """Returns (the largest known epoch <= `epoch`, its end offset), the answer to OffsetForLeaderEpoch.

        Returns (-1, -1) if `epoch` is newer than all known ones, and (`epoch`, first known offset) if it is older.
        """
        if epoch == NO_EPOCH or epoch > self.latest:
            return NO_EPOCH, NO_OFFSET
        if epoch == self.latest:
            return epoch, log_end_offset
        following = bisect_right(self._epochs, epoch)
        return (self._epochs[following - 1] if following else epoch), self._starts[following]

    def epoch_at(self, offset: int) -> int:
        """Returns the epoch in which `offset` was written or would be written, -1 if it precedes all known epochs."""
        following = bisect_right(self._starts, offset)
        return self._epochs[following - 1] if following else NO_EPOCH

    def delete_before(self, offset: int) -> None:
        """Removes the epochs that ended at or before `offset`, and moves the start of the epoch that contains it to `offset`."""
        passed = bisect_right(self._starts, offset) - 1
        if passed >= 0:
            del self._epochs[:passed], self._starts[:passed]
            self._starts[0] = offset

    def truncate_to(self, offset: int) -> None:
        """Removes the epochs that began at or after `offset`."""
        while self._starts and self._starts[-1] >= offset:
            self._pop()

    def _pop(self) -> None:
        self._epochs.pop()
        self._starts.pop()
        self.latest = self._epochs[-1] if self._epochs else NO_EPOCH
