"""Times at which the test has disturbed the cluster."""

from __future__ import annotations

import pytest

from odradek import Cluster
from odradek.broker.wire.doctor.disturbances import RECOVERY_MS, Disturbances
from odradek.broker.wire.exchange import Event
from tests.broker.wire.diagrams.scenes import START_MS, at


def disturbances(*told: tuple[float, str, str]) -> Disturbances:
    events = [
        Event(sequence=0, at=at(time), kind=kind, text=text, fields={"to_ms": 1} if "moves" in text else {}) for time, kind, text in told
    ]
    return Disturbances(events)


def disturbed(found: Disturbances, *times_ms: float) -> list[bool]:
    return [found.overlap(START_MS + time, START_MS + time) for time in times_ms]


@pytest.mark.parametrize(
    ("begin", "end"),
    [("stopping node 2", "starting node 2"), ("silencing node 2", "ending the silence of node 2"), ("stopping node 2", "removing node 2")],
)
def test_node_disturbs_until_its_clients_have_found_it_again(begin: str, end: str) -> None:
    found = disturbances((100, "control", begin), (150, "control", "starting node 1"), (200, "control", end))
    assert disturbed(found, 99, 100, 200, 200 + RECOVERY_MS, 201 + RECOVERY_MS) == [False, True, True, True, False]


def test_node_that_does_not_return_disturbs_until_the_end() -> None:
    assert disturbed(disturbances((100, "control", "stopping node 2")), 99, 1e9) == [False, True]


def test_restored_state_disturbs_for_a_moment() -> None:
    for text in ("restoring a state", "moving the leader of orders-0"):
        found = disturbances((100, "control", text))
        assert disturbed(found, 99, 100, 101 + RECOVERY_MS) == [False, True, False]


def test_clock_disturbs_while_it_does_not_pass_as_usual() -> None:
    found = disturbances((100, "clock", "the time moves forward by 1 ms"), (200, "clock", "the time stands still"))
    assert disturbed(found, 99, 100, 101, 200, 1e9) == [False, True, False, True, True]
    found = disturbances((200, "clock", "the time stands still"), (300, "clock", "the time passes at its usual speed"))
    assert disturbed(found, 250, 301) == [True, False]


def test_other_controls_do_not_disturb() -> None:
    assert disturbed(disturbances((100, "control", "creating topic orders")), 100) == [False]


def test_events_of_controls_are_disturbances() -> None:
    """The texts are those of the controls."""
    with Cluster(nodes=2) as cluster:
        for act in (
            lambda: (cluster.stop_node(2), cluster.start_node(2)),
            lambda: (cluster.pause_node(2), cluster.resume_node(2)),
            lambda: (cluster.isolate(2), cluster.rejoin(2)),
            cluster.reset,
            lambda: cluster.clock.advance(seconds=1),
            lambda: (cluster.clock.freeze(), cluster.clock.run()),
        ):
            mark = cluster.wire.mark()
            act()
            events = [entry for entry in cluster.wire.since(mark) if isinstance(entry, Event)]
            found = Disturbances(events)
            assert found.overlap(events[0].at.wall_ms, events[0].at.wall_ms), events
            assert not found.overlap(events[-1].at.wall_ms + RECOVERY_MS + 1, 1e15), events
