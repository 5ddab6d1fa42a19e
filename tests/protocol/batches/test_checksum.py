"""The functions for CRC-32C in numpy and Python, compared with the compiled one and with published values, and the choice between them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from types import BuiltinFunctionType

import crc32c as compiled
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.batches import checksum, numpy_crc32c, portable_crc32c
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record

Crc32c = Callable[[bytes | memoryview], int]

# RFC 3720, appendix B.4, and the check value in catalogues of CRCs.
PUBLISHED = [
    (b"", 0x00000000),
    (b"123456789", 0xE3069283),
    (bytes(32), 0x8A9136AA),
    (b"\xff" * 32, 0x62A8AB43),
    (bytes(range(32)), 0x46DD794E),
    (bytes(range(31, -1, -1)), 0x113FDB5C),
]


FUNCTIONS = pytest.mark.parametrize("function", [numpy_crc32c.crc32c, portable_crc32c.crc32c], ids=["numpy", "portable"])


@FUNCTIONS
@pytest.mark.parametrize(("message", "expected"), PUBLISHED)
def test_crc32c_of_published_message_is_published_value(function: Crc32c, message: bytes, expected: int) -> None:
    assert function(message) == expected


@FUNCTIONS
@given(message=st.binary(max_size=300))
def test_crc32c_of_random_message_equals_compiled(function: Crc32c, message: bytes) -> None:
    assert function(message) == compiled.crc32c(message)


@FUNCTIONS
@pytest.mark.parametrize("size", [16_323, 65_537, 1 << 20])
def test_crc32c_of_large_view_equals_compiled(function: Crc32c, size: int) -> None:
    message = memoryview(bytearray(n * n >> 3 & 0xFF for n in range(size + 3)))[3:]
    assert function(message) == compiled.crc32c(message)


def test_checksum_with_package_is_compiled() -> None:
    assert isinstance(checksum.crc32c, BuiltinFunctionType)
    assert checksum.crc32c.__doc__ == compiled.crc32c.__doc__


def test_package_without_its_extension_module_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PathFinder, "find_spec", lambda *_: None)
    assert checksum._fastest_installed() is compiled.crc32c


# None in sys.modules makes the import fail, as if the package were not installed.
def test_checksum_without_package_is_numpy_and_warns(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setitem(sys.modules, "crc32c", None)
    assert checksum._fastest_installed() is numpy_crc32c.crc32c
    assert "pip install crc32c" in caplog.text


def test_checksum_without_numpy_is_portable_and_warns(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setitem(sys.modules, "crc32c", None)
    monkeypatch.setitem(sys.modules, "odradek.protocol.batches.numpy_crc32c", None)
    assert checksum._fastest_installed() is portable_crc32c.crc32c
    assert "computed in Python" in caplog.text


WITHOUT_THE_PACKAGE = """
import logging, sys
sys.modules["crc32c"] = None
logging.basicConfig(format="%(name)s %(levelname)s")
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record, RecordBatch
for _ in range(2):
    batch = build_batch([Record(0, 0, b"key", b"value", [])])
    assert RecordBatch(batch).crc_valid()
print(batch.hex())
"""


def test_checksum_without_package_uses_numpy_and_warns_once() -> None:
    child = [sys.executable, "-c", WITHOUT_THE_PACKAGE]
    done = subprocess.run(child, capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)})
    assert bytes.fromhex(done.stdout) == build_batch([Record(0, 0, b"key", b"value", [])])
    assert done.stderr.splitlines() == ["odradek.protocol WARNING"]
