"""docs/walk.md shows what librdkafka and two brokers really do."""

from __future__ import annotations

import pytest

from documents import walk

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


def test_walk_of_a_new_session_is_the_page() -> None:
    if f"librdkafka {walk.VERSION}" not in (walk.DOCS / "walk.md").read_text(encoding="utf-8"):
        pytest.skip(f"docs/walk.md shows another version of librdkafka than {walk.VERSION}; `make docs` writes it again")
    for name, text in walk.files().items():
        assert (walk.DOCS / name).read_text(encoding="utf-8") == text, f"the session differs from docs/{name}: run `make docs`"
