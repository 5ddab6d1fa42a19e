"""Blocks of memory for batches. tests/broker/test_log_memory.py has the tests of LogMemory."""

from __future__ import annotations

import mmap

import pytest

from odradek.storage import memory


@pytest.mark.skipif(not hasattr(mmap, "MAP_ANONYMOUS"), reason="this system has no anonymous mappings")
def test_untouched_is_anonymous_mapping_if_supported() -> None:
    assert isinstance(memory.untouched(100).obj, mmap.mmap)


@pytest.mark.parametrize("anonymous", [memory._ANONYMOUS, 0])
def test_untouched_is_writable_zeros(anonymous: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_ANONYMOUS", anonymous)
    block = memory.untouched(100)
    assert block == bytes(100)
    block[99] = 1
    assert block[99] == 1
