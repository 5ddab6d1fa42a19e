"""Blocks: their pages, their reuse, and the limits of what is kept."""

from __future__ import annotations

import mmap
import sys
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from odradek.storage import blocks
from odradek.storage.blocks import Block, Blocks, touch
from odradek.storage.memory import LogMemory

MIB = 1 << 20
PAGE = mmap.PAGESIZE

reuses = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whether a view of a mapping exists")


def used(pool: Blocks, size: int) -> Block:
    """Takes a block, fills it and gives it back without a view of it."""
    view = pool.take(size)
    view[:] = b"x" * size
    block = view.obj
    assert isinstance(block, Block)
    del view
    pool.give_back([block])
    return block


def test_take_returns_writable_zeros_of_new_memory() -> None:
    view = Blocks(MIB).take(100_000)
    assert view == bytes(100_000)
    view[99_999] = 1
    assert view[99_999] == 1


def test_take_without_private_mappings_returns_zeros(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_PRIVATE", 0)
    assert Blocks(MIB).take(100) == bytes(100)


def test_take_of_too_much_memory_raises() -> None:
    with pytest.raises(MemoryError, match="cannot map"):
        Blocks(MIB).take(1 << 60)


@pytest.mark.parametrize("size", [1, PAGE, PAGE + 1, 65_537, 100_000, MIB, MIB + 1, 16 * MIB])
def test_take_wastes_at_most_an_eighth_or_a_page(size: int) -> None:
    length = len(Blocks(MIB).take(size).obj)  # type: ignore[arg-type]
    assert length % PAGE == 0
    assert size <= length <= size + max(size // 8, PAGE)


@reuses
def test_take_returns_the_block_that_was_given_back() -> None:
    pool = Blocks(MIB)
    block = used(pool, 100_000)
    assert pool.kept_bytes == len(block)
    view = pool.take(99_000)
    assert view.obj is block
    assert len(view) == 99_000
    assert pool.kept_bytes == 0


@reuses
def test_take_of_another_length_keeps_the_block() -> None:
    pool = Blocks(MIB)
    block = used(pool, 100_000)
    assert pool.take(50_000).obj is not block
    assert pool.kept_bytes == len(block)


@pytest.mark.parametrize("hold", [lambda view: view[5:6], lambda view: view.toreadonly(), lambda view: view.cast("b")])
def test_take_returns_no_block_that_has_a_view(hold: object) -> None:
    pool = Blocks(MIB)
    view = pool.take(1000)
    part = hold(view)  # type: ignore[operator]
    block = view.obj
    del view
    pool.give_back([block])
    assert pool.take(1000).obj is not block
    assert pool.kept_bytes == 0
    assert bytes(part) == bytes(len(part))


@pytest.mark.parametrize("error", [AttributeError, OSError, SystemError, ValueError])
def test_take_on_systems_that_cannot_tell_returns_new_memory(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def resize(self: Block, size: int) -> None:
        raise error

    pool = Blocks(MIB)
    block = used(pool, 1000)
    monkeypatch.setattr(Block, "resize", resize)
    assert pool.take(1000).obj is not block


@reuses
def test_take_after_the_last_view_is_gone_reuses_the_block() -> None:
    pool = Blocks(MIB)
    view = pool.take(1000)
    block = view.obj
    pool.give_back([block])
    del view
    assert pool.take(1000).obj is block


@reuses
def test_give_back_twice_hands_the_block_out_once() -> None:
    pool = Blocks(MIB)
    block = used(pool, 1000)
    pool.give_back([block, block])
    assert pool.kept_bytes == len(block)
    first, second = pool.take(1000), pool.take(1000)
    assert first.obj is block
    assert second.obj is not block


def test_give_back_ignores_other_memory() -> None:
    pool = Blocks(MIB)
    pool.give_back([bytearray(10), b"", None])
    assert pool.kept_bytes == 0


def test_give_back_beyond_the_limit_frees_the_oldest_length() -> None:
    pool = Blocks(4 * PAGE)
    one = used(pool, PAGE)
    two = used(pool, 2 * PAGE)
    used(pool, 5 * PAGE)
    assert pool.kept_bytes == 3 * PAGE, "a block that exceeds the limit by itself frees no other"
    pool.give_back([pool.take(PAGE).obj])
    used(pool, 3 * PAGE)
    assert not two.is_kept
    assert one.is_kept
    assert pool.kept_bytes == 4 * PAGE


def test_clear_frees_every_block() -> None:
    pool = Blocks(MIB)
    used(pool, 1000)
    used(pool, 100_000)
    pool.clear()
    assert pool.kept_bytes == 0


@reuses
def test_large_block_is_freed_in_the_background() -> None:
    """Its pages are given back step by step. A block that is still used, and one with few pages, are left to their last view."""
    work: list[Generator[Any, None, None]] = []
    pool = Blocks(32 * MIB, in_background=work.append)
    view = pool.take(10 * MIB)
    block = view.obj
    assert isinstance(block, Block)
    touch(view, 10 * MIB)
    view[0] = view[9 * MIB] = 1
    pool.give_back([block])
    pool.clear()
    (steps,) = work
    next(steps)
    del view
    assert len(list(steps)) == 3
    assert (block[0], block[9 * MIB]) == (0, 0)
    used(pool, 1000)
    pool.clear()
    assert len(work) == 1


@reuses
def test_large_block_with_a_view_is_not_freed() -> None:
    work: list[Generator[Any, None, None]] = []
    pool = Blocks(32 * MIB, in_background=work.append)
    view = pool.take(10 * MIB)
    touch(view, 10 * MIB)
    view[0] = 1
    pool.give_back([view.obj])
    pool.clear()
    assert len(list(work[0])) == 1
    assert view[0] == 1


def test_give_back_reports_each_kept_block() -> None:
    reports: list[int] = []
    pool = Blocks(2 * PAGE, on_kept=lambda: reports.append(pool.kept_bytes))
    used(pool, 2 * PAGE)
    used(pool, 3 * PAGE)
    assert reports == [2 * PAGE]


@pytest.fixture
def memory() -> Iterator[LogMemory]:
    yield LogMemory(10 * PAGE, lambda: None)


def test_give_back_keeps_what_the_logs_leave(memory: LogMemory) -> None:
    pool = Blocks(MIB, memory)
    memory.used_bytes = 8 * PAGE
    used(pool, 3 * PAGE)
    assert pool.kept_bytes == 0
    used(pool, 2 * PAGE)
    assert pool.kept_bytes == 2 * PAGE


def test_take_frees_kept_blocks_that_exceed_the_memory(memory: LogMemory) -> None:
    pool = Blocks(MIB, memory)
    used(pool, 6 * PAGE)
    memory.used_bytes = 3 * PAGE
    pool.take(PAGE)
    assert pool.kept_bytes == 6 * PAGE
    pool.take(2 * PAGE)
    assert pool.kept_bytes == 0


# Pages


def test_touch_returns_the_end_of_whole_pages() -> None:
    view = Blocks(MIB).take(5 * PAGE + 1)
    assert touch(view, 1) == PAGE
    assert touch(view, 10) == PAGE
    assert touch(view, 2 * PAGE + 1) == 3 * PAGE
    assert touch(view, len(view)) == len(view)


def test_touch_keeps_the_bytes_that_were_written() -> None:
    view = Blocks(MIB).take(3 * PAGE)
    touch(view, PAGE)
    view[:PAGE] = b"x" * PAGE
    touch(view, 3 * PAGE)
    assert view == b"x" * PAGE + bytes(2 * PAGE)


@reuses
def test_touch_of_a_reused_block_returns_its_pages() -> None:
    pool = Blocks(MIB)
    view = pool.take(4 * PAGE)
    touch(view, 4 * PAGE)
    block = view.obj
    del view
    pool.give_back([block])
    assert touch(pool.take(4 * PAGE), 1) == 4 * PAGE


@pytest.mark.parametrize("platform", ["linux", "other"])
def test_touch_where_the_system_refuses_changes_nothing(platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_POPULATE_WRITE", 12345)
    monkeypatch.setattr(sys, "platform", platform)
    view = Blocks(MIB).take(3 * PAGE)
    assert touch(view, PAGE + 1) == 2 * PAGE
    assert view == bytes(3 * PAGE)
