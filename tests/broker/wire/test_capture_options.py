from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.wire.capture_options import MIN_FILE_BYTES, CaptureOptions


def test_capture_options_have_canonical_addresses() -> None:
    assert CaptureOptions.of(Path("a.pcapng")) == CaptureOptions("a.pcapng", True, None)
    assert CaptureOptions.of("-", "real") == CaptureOptions("-", False, None)
    assert CaptureOptions.of("a.pcapng", max_bytes=MIN_FILE_BYTES).max_bytes == MIN_FILE_BYTES


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("",), "has no name"),
        (("a", "fake"), "use canonical or real"),
        (("a", "real", 10), "use at least 65536"),
        (("-", "real", MIN_FILE_BYTES), "written to a pipe"),
    ],
)
def test_invalid_capture_options_name_the_remedy(options: Any, message: str) -> None:
    with pytest.raises(InvalidConfig, match=message):
        CaptureOptions.of(*options)
