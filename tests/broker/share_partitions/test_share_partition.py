"""The state machine of a share partition: acquisition, acknowledgements, locks, and deleted records."""

from __future__ import annotations

import pytest

from odradek.broker.share_partitions.acquisition import AcquireMode
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.broker.share_partitions.scene import START_MS, Scene

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
BOUNDS = (0, 5, 10, 15)


@pytest.fixture
def scene() -> Scene:
    return Scene(*BOUNDS)


def test_acquire_takes_whole_batches(scene: Scene) -> None:
    assert scene.acquire(max_records=6) == [(0, 9, 1)]
    assert scene.acquire("other") == [(10, 14, 1)]
    assert scene.acquire("third") == []


def test_acquire_by_record_leaves_the_rest_available(scene: Scene) -> None:
    assert scene.acquire(max_records=3, mode=AcquireMode.RECORD_LIMIT) == [(0, 2, 1)]
    assert scene.states == "mmmaa"
    assert scene.acquire("other", max_records=4, mode=AcquireMode.RECORD_LIMIT) == [(3, 4, 1), (5, 6, 1)]


def test_acquire_divides_by_the_batch_size(scene: Scene) -> None:
    assert scene.acquire(batch_size=4) == [(0, 4, 1), (5, 9, 1), (10, 14, 1)]


def test_acknowledge_moves_the_start_over_complete_records(scene: Scene) -> None:
    scene.acquire()
    scene.acknowledge(5, 9, ACCEPT)
    assert (scene.partition.window.start_offset, scene.complete_count) == (0, 5)
    scene.acknowledge(0, 4, ACCEPT, REJECT, ACCEPT, GAP, ACCEPT)
    assert scene.partition.window.start_offset == 10
    scene.acknowledge(10, 14, ACCEPT)
    assert (scene.partition.window.start_offset, len(scene.partition.window.in_flight)) == (15, 0)


def test_acknowledge_release_makes_records_available(scene: Scene) -> None:
    scene.acquire()
    scene.acknowledge(3, 6, RELEASE)
    assert scene.states == "mmmaaaammmmmmmm"
    assert scene.acquire("other") == [(3, 6, 2)]
    assert scene.states == "m" * 15


@pytest.mark.parametrize(
    ("first", "last", "types", "code"),
    [
        (0, 15, (ACCEPT,), ErrorCode.INVALID_REQUEST),
        (15, 15, (ACCEPT,), ErrorCode.INVALID_REQUEST),
        (0, 10**9, (ACCEPT,), ErrorCode.INVALID_REQUEST),
        (0, 4, (ACCEPT,), ErrorCode.INVALID_RECORD_STATE),
    ],
)
def test_acknowledge_of_other_records_changes_nothing(scene: Scene, first: int, last: int, types: tuple[int, ...], code: ErrorCode) -> None:
    scene.acquire("other", max_records=5)
    scene.acquire()
    before = scene.states, scene.stored, scene.partition.window.complete_count
    with pytest.raises(KafkaError) as refused:
        scene.acknowledge(first, last, *types)
    assert refused.value.code == code
    assert (scene.states, scene.stored, scene.partition.window.complete_count) == before


def test_acknowledge_that_cannot_be_stored_is_reverted(scene: Scene) -> None:
    scene.acquire()
    scene.failing = ErrorCode.COORDINATOR_NOT_AVAILABLE
    with pytest.raises(KafkaError):
        scene.acknowledge(2, 7, ACCEPT)
    assert scene.states == "m" * 15
    assert scene.partition.window.complete_count == 0
    scene.failing = None
    scene.acknowledge(0, 14, ACCEPT)
    assert scene.start_offset == 0
    assert scene.partition.window.start_offset == 15


def test_acknowledge_before_the_start_is_ignored(scene: Scene) -> None:
    scene.acquire()
    scene.acknowledge(0, 4, ACCEPT)
    scene.acknowledge(0, 4, RELEASE)
    assert scene.partition.window.start_offset == 5


def test_acknowledge_of_a_billion_offsets_is_one_range() -> None:
    scene = Scene(0, 10**9)
    assert scene.acquire() == [(0, 10**9 - 1, 1)]
    scene.acknowledge(1, 10**9 - 1, RELEASE)
    assert scene.stored == [(1, 10**9 - 1, 0, 1)]
    scene.acknowledge(0, 0, ACCEPT)
    assert scene.partition.next_fetch_offset == 1


def test_lock_expires_at_its_time(scene: Scene) -> None:
    scene.acquire(max_records=5)
    scene.advance(20_000)
    scene.acquire("other")
    scene.advance(9_999)
    assert scene.states == "m" * 15
    scene.advance(1)
    assert scene.states == "aaaaammmmmmmmmm"
    assert scene.partition.alarm_ms == START_MS + 50_000
    with pytest.raises(KafkaError):
        scene.acknowledge(0, 4, ACCEPT)


def test_renewal_extends_the_lock(scene: Scene) -> None:
    scene.acquire()
    scene.advance(20_000)
    scene.acknowledge(5, 9, RENEW)
    scene.acknowledge(12, 13, RENEW)
    scene.advance(10_000)
    assert scene.states == "aaaaammmmmaamma"
    scene.advance(20_000)
    assert scene.states == "a" * 15


def test_renewal_is_refused_where_it_is_disabled() -> None:
    scene = Scene(*BOUNDS, renew_acknowledge_enabled=False)
    scene.acquire()
    for last in (4, 2):
        with pytest.raises(KafkaError):
            scene.acknowledge(0, last, RENEW)


def test_expiry_that_cannot_be_stored_takes_effect(scene: Scene) -> None:
    scene.acquire()
    scene.failing = ErrorCode.COORDINATOR_NOT_AVAILABLE
    scene.advance(30_000)
    assert scene.states == "a" * 15


def test_record_is_archived_at_its_delivery_limit() -> None:
    scene = Scene(0, 1, delivery_count_limit=3)
    for delivery in (1, 2, 3):
        assert scene.acquire() == [(0, 0, delivery)]
        scene.advance(30_000)
    assert scene.partition.window.start_offset == 1


def test_release_isolates_records_step_by_step() -> None:
    scene = Scene(0, 8, delivery_count_limit=5)
    sizes = []
    while ranges := scene.acquire():
        sizes.append(sum(last - first + 1 for first, last, _ in ranges))
        scene.partition.release("m")
    assert sizes[:6] == [8, 8, 8, 4, 1, 1]
    assert scene.partition.window.start_offset == 8
    assert sum(sizes) == 8 * 5


def test_release_concerns_one_member_only(scene: Scene) -> None:
    scene.acquire(max_records=5)
    scene.acquire("other")
    scene.partition.release("other")
    assert scene.states == "mmmmmaaaaaaaaaa"


def test_deleted_records_are_given_up(scene: Scene) -> None:
    scene.acquire(max_records=10)
    scene.acknowledge(0, 1, RELEASE)
    scene.partition.log_starts_at(7)
    assert scene.states == "xxmmmmmmmm"
    scene.partition.release("m")
    assert scene.states == "xxxxxxxaaa"
    assert scene.partition.next_fetch_offset == 7


def test_deleted_records_of_an_empty_window_move_it(scene: Scene) -> None:
    scene.partition.log_starts_at(7)
    scene.partition.log_starts_at(3)
    assert (scene.partition.window.start_offset, scene.partition.next_fetch_offset) == (7, 7)


def test_compacted_records_are_archived(scene: Scene) -> None:
    scene.acquire()
    scene.acknowledge(0, 9, RELEASE)
    scene.extents = [(7, 10), (10, 15)]
    assert scene.acquire("other")[0][:2] == (7, 9)
    assert scene.states == "xxxxxxx" + "m" * 8


def test_load_delivers_the_gaps_of_the_stored_state() -> None:
    scene = Scene(0, 5, 10, 15, 20)
    scene.acquire()
    scene.acknowledge(5, 9, ACCEPT)
    scene.acknowledge(12, 13, RELEASE)
    scene.load()
    assert scene.partition.next_fetch_offset == 0
    assert scene.acquire() == [(0, 4, 1), (10, 11, 1), (12, 13, 2), (14, 19, 1)]


def test_window_limits_the_records_in_flight() -> None:
    scene = Scene(*range(0, 301, 30), max_record_locks=100)
    assert scene.acquire() == [(0, 119, 1)]
    assert not scene.partition.can_acquire
    assert scene.acquire() == []
    scene.acknowledge(40, 49, RELEASE)
    assert scene.partition.can_acquire
    assert scene.acquire() == [(40, 49, 2)]
