"""Makes every coordinator write fail once: its record cannot be encoded or appended, and the request is then sent again.

The failure must leave no trace, so that all later answers still equal Apache Kafka's. The families of groups and transactions are used.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from fnmatch import fnmatchcase

import pytest

from odradek.broker.groups import offsets
from odradek.broker.groups.classic import group as classic_group
from odradek.broker.groups.consumer import records as consumer_records
from odradek.broker.groups.share import records as share_records
from odradek.broker.topics.partition import Partition
from odradek.broker.transactions import records as transaction_records
from tests.state import changes

from .case import LOCALHOST, Family
from .comparison import differences, known_differences, read_recording, unexplained
from .families import FAMILIES
from .replay import create_topics, topics_of
from .traces import WatchedCluster, WatchedConnection, WatchedReplay

SHOWN = 20
ALLOWED = (
    ".timers.('session'*->*",  # OffsetCommit renews the session of its member before it writes, as in Kafka
    ".next_producer_id: *",  # a producer id that was generated is never assigned to another producer
)


class Unwritable(Exception):
    """The injected failure."""


class Faults:
    """Makes the first coordinator record of each request fail while it is armed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
        self.armed = self.fired = False
        self.count = 0
        if step == "append":
            self._guard(monkeypatch, Partition, "append_records")
        else:
            for module in (classic_group, consumer_records, offsets, share_records, transaction_records):
                self._guard(monkeypatch, module, "write_key")

    def _guard(self, monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
        real = getattr(owner, name)

        def guarded(*arguments: object) -> object:
            if self.armed:
                self.armed, self.fired = False, True
                self.count += 1
                raise Unwritable
            return real(*arguments)

        monkeypatch.setattr(owner, name, guarded)


class FailingConnection(WatchedConnection):
    def __init__(self, target: Failing, node: int, host: str, listener: str) -> None:
        super().__init__(target, node, host, listener)
        self.failing, self.node, self.host = target, node, host

    def send(self, frames: bytes) -> None:
        self.world.advance(1)
        before, chance = self.target.now(), self.world.cluster.random.getstate()
        faults = self.failing.faults
        faults.armed, faults.fired = True, False
        self.client.feed(frames)
        faults.armed = False
        if faults.fired:
            found = [change for change in before.changes(self.target.now()) if not any(fnmatchcase(change, each) for each in ALLOWED)]
            self.failing.traces += [f"{self.failing.case}: {change}" for change in found]
            self.world.cluster.random.setstate(chance)
            self.client = self.world.client(self.node, host=self.host)
            self.client.feed(frames)


class Failing(WatchedCluster):
    def __init__(self, family: Family, faults: Faults) -> None:
        super().__init__(family)
        self.faults = faults
        self.traces: list[str] = []
        self.case = ""

    def connect(self, node: int, host: str = LOCALHOST, listener: str = "") -> FailingConnection:
        return FailingConnection(self, node, host, listener)


def _is_not_injected(entry: logging.LogRecord) -> bool:
    return not (entry.exc_info and isinstance(entry.exc_info[1], Unwritable))


@pytest.fixture
def log_without_injected(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Discards the entries of injected failures, because each would keep the stack of a test with its connections."""
    handlers = list(logging.getLogger().handlers)
    for handler in handlers:
        handler.addFilter(_is_not_injected)
    yield caplog
    for handler in handlers:
        handler.removeFilter(_is_not_injected)


@pytest.mark.parametrize("step", ["encode", "append"])
@pytest.mark.parametrize("family", ["groups", "group_offsets", "consumer_groups", "share_groups", "share_group_offsets", "transactions"])
def test_failed_write_leaves_no_trace(
    family: str, step: str, monkeypatch: pytest.MonkeyPatch, log_without_injected: pytest.LogCaptureFixture
) -> None:
    faults = Faults(monkeypatch, step)
    target, cases = Failing(FAMILIES[family], faults), list(FAMILIES[family].cases())
    ids, ours = create_topics(target, topics_of(cases)), {}
    faults.count, target.traces = 0, []
    for case in cases:
        target.case = case.name
        ours[case.name] = WatchedReplay(target, ids).run(case)
    assert not [entry for entry in log_without_injected.records if entry.levelno >= logging.ERROR]
    assert not target.traces, f"{len(target.traces)} changes:\n" + "\n".join(target.traces[:SHOWN])
    assert not unexplained(differences(read_recording(family), ours), known_differences())
    assert faults.count > len(cases) / 2


def test_changes_of_two_states_names_each_difference() -> None:
    before = {"a": [1, {"b": 2}], "c": 3}
    assert list(changes(before, {"a": [1, {"b": 3}], "d": 3})) == [".a.1.b: 2 -> 3", ".c: gone", ".d: new"]
