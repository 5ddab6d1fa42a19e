"""LogMemory: the limit and what is counted. tests/broker/topics/test_log_memory.py has its effect on a cluster."""

from __future__ import annotations

from odradek.storage.memory import LogMemory


def test_log_memory_has_room_up_to_its_limit() -> None:
    memory = LogMemory(100, lambda: None)
    memory.used_bytes = 60
    assert memory.has_room(40)
    assert not memory.has_room(41)


def test_log_memory_full_is_reported_once_until_freed() -> None:
    reports: list[int] = []
    memory = LogMemory(100, lambda: reports.append(memory.used_bytes))
    memory.used_bytes = 100
    assert [memory.has_room(1) for _ in range(3)] == [False] * 3
    assert reports == [100]
    memory.free(1)
    assert memory.has_room(1)
    assert not memory.has_room(2)
    assert reports == [100, 99]
