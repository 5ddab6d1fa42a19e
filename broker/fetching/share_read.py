"""Reading and acquiring records for a ShareFetch request (Kafka's DelayedShareFetch).

`attempt` makes one pass over the partitions of a request. A partition takes part if it has available records, or room for further ones; the
bytes that the request may return are divided equally among these partitions. Records are acquired only if the pass completes the request:
there are `min_bytes`, one of the partitions cannot be read, or the time is over. Otherwise the request waits for one of `keys`: more
records in a partition, and records that become available again because they are released, acknowledged, or their locks expire. A request
whose only partitions have no state waits too, because Kafka reads the state while the request waits.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.share_fetch import AcquiredRecords, CurrentLeader, PartitionData, ShareFetchRequest
from ..api.context import Context
from ..share_partitions.acquisition import AcquireMode
from ..share_partitions.fetched import FetchedBatches, aborted_transactions
from ..share_partitions.sessions import PartitionKey
from ..share_partitions.share_partitions import LoadedPartition
from ..topics.partition import Partition

Results = dict[PartitionKey, PartitionData]


class _Candidate(NamedTuple):
    """A partition that takes part in a pass."""

    loaded: LoadedPartition
    offset: int
    end_offset: int
    max_bytes: int

    @property
    def is_out_of_range(self) -> bool:
        log = self.loaded.partition.log
        return not log.start_offset <= self.offset <= log.end_offset

    @property
    def available_bytes(self) -> int:
        return min(self.loaded.partition.log.available(self.offset, self.end_offset), self.max_bytes)


def partition_data(index: int, code: int = 0) -> PartitionData:
    """Returns the response for a partition without records."""
    return PartitionData(partition_index=index, error_code=code, current_leader=CurrentLeader(), records=b"", acquired_records=[])


class ShareRead:
    """The partitions of one request that exist and that the client may read. `errors` are those that cannot be loaded."""

    def __init__(
        self, request: ShareFetchRequest, context: Context, group_id: str, member_id: str, partitions: Sequence[Partition]
    ) -> None:
        self._request = request
        self._context = context
        self._member_id = member_id
        self._manager = context.broker.share_partitions
        self._mode = AcquireMode(request.share_acquire_mode)
        self._read_committed = self._manager.settings(group_id).read_committed
        self._max_bytes = min(request.max_bytes, context.broker.config.integers["fetch.max.bytes"])
        if context.quotas is not None:
            self._max_bytes = context.quotas.cap_fetch(self._max_bytes)
        self.min_bytes = min(request.min_bytes, self._max_bytes)
        self.errors: Results = {}
        self._lacks_state = False
        self._loaded: list[LoadedPartition] = []
        for partition in partitions if request.max_records and self._max_bytes else ():
            try:
                self._loaded.append(self._manager.load(group_id, partition))
            except KafkaError as error:
                self.errors[partition.topic.id, partition.index] = partition_data(partition.index, error.code)
                self._lacks_state |= error.code != ErrorCode.NOT_LEADER_OR_FOLLOWER

    @property
    def keys(self) -> list[Hashable]:
        """The keys that are woken when a further pass may return more."""
        return [*self._loaded, *(loaded.partition for loaded in self._loaded)]

    def attempt(self, *, last: bool) -> Results | None:
        """Returns the response for each partition that took part; None if the request has to wait, unless this is the `last` pass."""
        candidates = self._candidates()
        if not self._loaded:
            return self.errors if last or not self._lacks_state else None
        if not last and not self._is_enough(candidates):
            return None
        room, records_left, results = self._max_bytes, self._request.max_records, dict(self.errors)
        for candidate in candidates:
            results[candidate.loaded.key[1:]] = data = partition_data(candidate.loaded.key.partition)
            if candidate.is_out_of_range:
                candidate.loaded.records.log_starts_at(candidate.loaded.partition.log.start_offset)
                continue
            fetched = self._read(candidate, room, at_least_one=room == self._max_bytes)
            room = max(0, room - sum(map(len, fetched.views)))
            records_left -= self._acquire(candidate, fetched, records_left, data)
        return results

    def _candidates(self) -> list[_Candidate]:
        able = [loaded for loaded in self._loaded if loaded.active and loaded.records.can_acquire]
        shares = _divide(self._max_bytes, len(able))
        return [_Candidate(loaded, loaded.records.next_fetch_offset, self._end_offset(loaded), shares[i]) for i, loaded in enumerate(able)]

    def _end_offset(self, loaded: LoadedPartition) -> int:
        return loaded.partition.last_stable_offset if self._read_committed else loaded.partition.high_watermark

    def _is_enough(self, candidates: Sequence[_Candidate]) -> bool:
        if not candidates:
            return False
        if any(candidate.is_out_of_range for candidate in candidates):
            return True
        return sum(candidate.available_bytes for candidate in candidates) >= self.min_bytes

    def _read(self, candidate: _Candidate, room: int, *, at_least_one: bool) -> FetchedBatches:
        log = candidate.loaded.partition.log
        return FetchedBatches(log.read(candidate.offset, min(room, candidate.max_bytes), candidate.end_offset, at_least_one=at_least_one))

    def _acquire(self, candidate: _Candidate, fetched: FetchedBatches, max_records: int, data: PartitionData) -> int:
        """Acquires records and adds them to the response of a partition. Returns how many they are."""
        loaded = candidate.loaded
        aborted = aborted_transactions(loaded.partition, candidate.offset, fetched) if self._read_committed else ()
        acquired = loaded.records.acquire(
            self._member_id,
            candidate.offset,
            fetched,
            max_records,
            self._context.now_ms,
            mode=self._mode,
            batch_size=self._request.batch_size,
            aborted=aborted,
        )
        self._manager.changed(loaded, wakes=False)
        if acquired:
            data.records = fetched.part(acquired[0].first, acquired[-1].last)
            data.acquired_records = [
                AcquiredRecords(first_offset=each.first, last_offset=each.last, delivery_count=each.delivery_count) for each in acquired
            ]
        return sum(each.last - each.first + 1 for each in acquired)


def _divide(max_bytes: int, count: int) -> list[int]:
    """Divides bytes equally; the first partition gets the remainder. Fewer bytes than partitions give one byte to the first ones."""
    if max_bytes < count:
        return [int(index < max_bytes) for index in range(count)]
    return [max_bytes // count + (max_bytes % count if index == 0 else 0) for index in range(count)]
