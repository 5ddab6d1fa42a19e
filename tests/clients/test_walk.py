"""docs/walk.md shows what librdkafka and two brokers really do."""

from __future__ import annotations

import pytest

from tests import walk

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


def test_walk_of_a_new_session_is_the_page() -> None:
    page = walk.PAGE.read_text(encoding="utf-8")
    if f"librdkafka {walk.VERSION}" not in page:
        pytest.skip(f"docs/walk.md shows another version of librdkafka than {walk.VERSION}; `make docs` writes it again")
    assert walk.page() == page, "the session differs from docs/walk.md: run `make docs`"
