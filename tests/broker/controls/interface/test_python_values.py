"""Arguments from Python: what is accepted, and the errors that name the parameter."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from odradek import Cluster, InvalidControl
from odradek.broker.controls.interface.python_values import python_value

NOON = datetime(2030, 1, 31, 12, tzinfo=UTC)


class Index:
    """A number of another library."""

    def __index__(self) -> int:
        return 3


@pytest.mark.parametrize(
    ("hint", "given", "value"),
    [
        (int, 3, 3),
        (int, Index(), 3),
        (int, 3.0, 3),
        (float, 1, 1),
        (bool, True, True),
        (datetime, NOON, NOON),
        (datetime, "2030-01-31T12:00:00Z", NOON),
        (datetime | int | None, 5, 5),
        (datetime | int | None, "2030-01-31T12:00:00Z", NOON),
        (datetime | int | None, None, None),
        (timedelta | float | str, "10m", "10m"),
        (timedelta | float | str, timedelta(1), timedelta(1)),
        (str | PathLike[str], Path("a"), Path("a")),
        (Annotated[str | Sequence[str] | None, "apis"], ("Produce", "Fetch"), ["Produce", "Fetch"]),
        (bool | Literal["fin", "rst"], "rst", "rst"),
        (bytes, bytearray(b"a"), bytearray(b"a")),
        (tuple[str, int], ("a", 1), ("a", 1)),
        (Callable[[Any], object], len, len),
        (Any, {1: 2}, {1: 2}),
    ],
)
def test_value_of_an_annotation_is_accepted(hint: Any, given: object, value: object) -> None:
    assert python_value("p", hint, given) == value


@pytest.mark.parametrize(
    ("hint", "given", "message"),
    [
        (int, "3", "p: must be an integer, not '3'"),
        (int, True, "p: must be an integer, not true"),
        (int, 1 << 64, "p: must be an integer of 64 bits, not 18446744073709551616"),
        (float, "1", "p: must be a number, not '1'"),
        (bool, "yes", "p: must be true or false, not 'yes'"),
        (str, b"a", "p: must be text, not \"b'a'\""),
        (datetime, "soon", "p: must be a time in ISO 8601, such as 2026-01-31T12:00:00Z, not 'soon'"),
        (Sequence[int], [1, "a"], "p[1]: must be an integer, not 'a'"),
        (int | Sequence[int] | None, [1, "a"], "p[1]: must be an integer, not 'a'"),
        (Sequence[str], "a", "p: must be a list, not 'a'"),
        (Literal["fin", "rst"], "rs", "p: there is no 'rs'; did you mean 'rst'?"),
        (bool | Literal["closed", "silent"] | None, "close", "p: there is no 'close'; did you mean 'closed'?"),
        (Callable[[Any], object] | None, 3, "p: must be a function, not 3"),
        (Cluster, 3, "p: must be a Cluster, not 3"),
    ],
)
def test_value_of_another_type_is_refused(hint: Any, given: object, message: str) -> None:
    with pytest.raises(InvalidControl) as caught:
        python_value("p", hint, given)
    assert (str(caught.value), caught.value.parameter) == (message, "p")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"orders": 1}) as running:
        yield running


CALLS: list[tuple[Callable[[Any], object], str]] = [
    (lambda c: c.fault(api="Produce", error="UNKNOWN_SERVER_ERROR", until="soon"), "until: must be a time in ISO 8601"),
    (lambda c: c.fault(error="UNKNOWN_SERVER_ERROR", node="2"), "node: must be an integer, not '2'"),
    (lambda c: c.fault(error="UNKNOWN_SERVER_ERROR", times="2"), "times: must be an integer, not '2'"),
    (lambda c: c.fault(delay_ms="1s"), "delay_ms: must be an integer, not '1s'; the unit is ms, so write 1000"),
    (lambda c: c.fault(api=3, drop=True), "api: must be text or a list, not 3"),
    (lambda c: c.fault(api="Fetch", drop=True, when=3), "when: must be a function, not 3"),
    (lambda c: c.fault(api="Fetch", drop=True, min_version=5, max_version=4), "min_version: 5 is above max_version, 4"),
    (lambda c: c.fault(api="Fetch", drop=True, after=NOON, until=NOON), "after: must be before until, because no request is hit otherwise"),
    (lambda c: c.fault(api="Fetch", drop=True, after=2, until=1), "after: must be before until"),
    (lambda c: c.stop_node("2"), "node: must be an integer, not '2'"),
    (lambda c: c.stop_node(2, graceful="no"), "graceful: must be true or false, not 'no'"),
    (lambda c: c.clock.set("soon"), "moment: must be a time in ISO 8601"),
    (lambda c: c.clock.set(None), "moment: must be a time in ISO 8601"),
    (lambda c: c.clock.run("2"), "speed: must be a number, not '2'"),
    (lambda c: c.clock.advance(minutes="10"), "minutes: must be a number, not '10'"),
    (lambda c: c.clock.advance([1]), r"duration: must be a duration, such as 10m, 500ms or a number of seconds, not \[1\]"),
    (lambda c: c.produce("orders", 3), "records: must be a list, not 3"),
    (lambda c: c.produce("orders", ["a"], partition="0"), "partition: must be an integer, not '0'"),
    (lambda c: c.produce(3, ["a"]), "topic: must be text, not 3"),
    (lambda c: c.records(b"orders"), "topic: must be text"),
    (lambda c: c.records("orders", since="soon"), "since: must be an integer or a time in ISO 8601|since: must be a time in ISO 8601"),
    (lambda c: c.create_topic("t", "4"), "partitions: must be an integer, not '4'"),
    (lambda c: c.wait_for_group("g", lag="0"), "lag: must be an integer, not '0'"),
    (lambda c: c.group("g").wait_for(members=[]), r"members: must be an integer, not \[\]"),
    (lambda c: c.wait_until(lambda: True, timeout_s="1"), "timeout_s: must be 0 or more seconds, not '1'"),
    (lambda c: c.wait_until(True), "predicate: must be a function, which is called again and again, not True"),
    (lambda c: c.requests(node="1"), "node: must be an integer, not '1'"),
    (lambda c: c.wire.since("1"), "mark: must be an integer, not '1'"),
    (lambda c: c.restore("1"), "snapshot: must be .*an integer, not '1'"),
    (lambda c: c.start_capture(3), "file: must be the path of a file, not 3"),
    (lambda c: c.set_replicas("orders", 0, "12"), "replicas: must be a list, not '12'"),
    (lambda c: c.leader_election("orders", None), "takes: must be a duration"),
    (lambda c: c.slow_network("200"), "ms: must be an integer, not '200'"),
    (lambda c: c.rolling_restart("5"), "pause_s: must be a number, not '5'"),
]


@pytest.mark.parametrize(("call", "message"), CALLS)
def test_wrong_type_names_the_parameter(cluster: Cluster, call: Callable[[Cluster], object], message: str) -> None:
    before = cluster.clock.state().speed
    with pytest.raises(InvalidControl, match=f"^{message}"):
        call(cluster)
    assert (cluster.list_faults(), cluster.clock.state().speed) == ([], before)
    assert [each.state for each in cluster.nodes()] == ["running", "running"]
    assert cluster.records("orders") == []


def test_wrong_type_in_wait_of_a_fault_names_it(cluster: Cluster) -> None:
    with cluster.fault(api="Fetch", drop=True) as fault, pytest.raises(InvalidControl, match="hits: must be an integer, not '2'"):
        fault.wait("2")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda c: c.fault(tipic="orders", drop=True), r"fault\(\) got an unexpected keyword argument 'tipic'; did you mean 'topic'\?"),
        (lambda c: c.stop_node(2, gracefull=False), r"stop_node\(\) got an unexpected .* 'gracefull'; did you mean 'graceful'\?"),
        (lambda c: c.clock.advance(minute=1), r"advance\(\) got .* 'minute'; did you mean 'minutes'\?"),
        (lambda c: c.status(x=1), r"status\(\) got an unexpected keyword argument 'x'; it accepts no arguments"),
        (lambda c: Cluster(node=2), r"Cluster\(\) got an unexpected keyword argument 'node'; did you mean 'nodes'\?"),  # type: ignore[call-arg]
        (lambda c: Cluster.load("f", sed=2), r"Cluster.load\(\) got an unexpected keyword argument 'sed'; did you mean 'seed'\?"),  # type: ignore[call-arg]
        (lambda c: c.stop_node(), "missing a required argument: 'node'"),
    ],
)
def test_unknown_keyword_names_the_nearest(cluster: Cluster, call: Callable[[Any], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(cluster)


def test_time_as_text_sets_the_clock_and_ends_a_fault(cluster: Cluster) -> None:
    with cluster.fault(api="Fetch", drop=True, until="2999-01-31T12:00:00Z") as fault:
        assert "until=2999-01-31T12:00:00+00:00" in fault.described().options
    after = cluster.clock.state().now + timedelta(hours=1)
    assert cluster.clock.set(after.isoformat()).now >= after


def test_methods_of_other_loops_check_their_arguments(cluster: Cluster) -> None:
    import asyncio

    async def use() -> None:
        with pytest.raises(InvalidControl, match="node: must be an integer, not '2'"):
            await cluster.awaitable.stop_node(operator.add("", "2"))

    asyncio.run(use())
