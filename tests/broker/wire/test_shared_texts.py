"""The texts of entries that several readers share."""

from __future__ import annotations

import pytest

from odradek.broker.wire import feed as feeds
from odradek.broker.wire.exchange import Entry
from odradek.broker.wire.feed import Feed, SharedTexts
from odradek.broker.wire.filters import parse_filter
from tests.broker.harness import World
from tests.broker.wire.recorded_worlds import a_world, pipelined, record_of


class Rendering:
    """Shared texts that count how often each entry is rendered."""

    def __init__(self, world: World, text: str = "") -> None:
        self.rendered: list[int] = []
        self.texts = SharedTexts(record_of(world), parse_filter(text), self._render)

    def _render(self, entry: Entry) -> bytes:
        self.rendered.append(entry.sequence)
        return b"<%d>" % entry.sequence


def taken(feed: Feed[bytes]) -> bytes:
    return b"".join(text for text in feed.take() if text is not None)


def test_each_entry_is_rendered_once_for_all_readers() -> None:
    world = a_world()
    rendering = Rendering(world)
    feeds = [Feed(record_of(world), since, rendering.texts) for since in (1, 1, 5, 300)]
    pipelined(world.client(), 310)
    numbers = range(1, record_of(world).next_sequence)
    for feed, since in zip(feeds, (1, 1, 5, 300), strict=True):
        assert taken(feed) == b"".join(b"<%d>" % number for number in numbers if number >= since)
    assert rendering.rendered == list(numbers)


def test_readers_that_take_turns_continue_the_work_of_each_other() -> None:
    world = a_world()
    rendering = Rendering(world)
    pipelined(world.client(), 20)
    first, second = (Feed(record_of(world), 1, rendering.texts).take() for _ in range(2))
    for number in range(1, 21):
        taking = (first, second) if number % 2 else (second, first)
        assert [next(each) for each in taking] == [b"<%d>" % number] * 2
    assert rendering.rendered == list(range(1, 21))


def test_entries_that_are_not_selected_are_compared_once() -> None:
    world = a_world()
    rendering = Rendering(world, "event")
    pipelined(world.client(), 20)
    assert taken(Feed(record_of(world), 1, rendering.texts)) == taken(Feed(record_of(world), 1, rendering.texts))
    assert len(rendering.rendered) < 20


def test_texts_beyond_the_limit_are_rendered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "REMEMBERED_BYTES", 500)
    world = a_world()
    rendering = Rendering(world)
    pipelined(world.client(), 20)
    assert taken(Feed(record_of(world), 1, rendering.texts)) == taken(Feed(record_of(world), 1, rendering.texts))
    assert len(rendering.rendered) == 2 * (record_of(world).next_sequence - 1)
    assert len(rendering.texts._texts) < 5
