"""The task assignor: what holds for every assignment. Its exact choices are compared with Apache Kafka's in tests/differential."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.groups.streams.configuration import ConfiguredSubtopology, NewTopic
from odradek.broker.groups.streams.sticky_assignor import MemberSpec, assign
from odradek.broker.groups.streams.tasks import Task, Tasks

Processes = dict[str, str]
"""Member id -> process id."""
Shapes = dict[str, tuple[int, bool]]
"""Subtopology id -> (number of tasks, whether it has state)."""
PROCESSES: st.SearchStrategy[Processes] = st.dictionaries(st.sampled_from("mnopqrst"), st.sampled_from("abcd"), min_size=1)
SHAPES: st.SearchStrategy[Shapes] = st.dictionaries(st.sampled_from("0123"), st.tuples(st.integers(1, 6), st.booleans()), max_size=3)


def subtopologies(shapes: Shapes) -> dict[str, ConfiguredSubtopology]:
    changelog = {"c": NewTopic("c", 1, 0, ())}
    return {
        name: ConfiguredSubtopology(tasks, frozenset("t"), {}, frozenset(), changelog if stateful else {})
        for name, (tasks, stateful) in sorted(shapes.items())
    }


def tasks_of(shapes: Shapes, *, stateful_only: bool = False) -> set[Task]:
    return {(name, index) for name, (count, stateful) in shapes.items() if stateful or not stateful_only for index in range(count)}


def specs(processes: Processes, former: Mapping[str, Tasks]) -> dict[str, MemberSpec]:
    return {member: MemberSpec(process, former.get(member, Tasks())) for member, process in processes.items()}


def check(processes: Processes, shapes: Shapes, standbys: int, targets: Mapping[str, Tasks]) -> None:
    """Asserts what holds for every assignment."""
    assert targets.keys() == processes.keys()
    active = Counter(task for target in targets.values() for task in target.active)
    assert set(active) == tasks_of(shapes)
    assert set(active.values()) <= {1}, "a task is active in two places"
    held = Counter((processes[member], task) for member, target in targets.items() for task in (*target.active, *target.standby))
    assert set(held.values()) <= {1}, "a process has two copies of a task"
    copies = Counter(task for target in targets.values() for task in target.standby)
    possible = min(standbys, len(set(processes.values())) - 1)
    assert copies == Counter({task: possible for task in tasks_of(shapes, stateful_only=True) if possible})
    assert not any(target.warmup for target in targets.values()), "Kafka 4.3 assigns no warm-up tasks"


def is_balanced(processes: Processes, targets: Mapping[str, Tasks]) -> bool:
    """Returns whether the numbers of active tasks per member differ by at most one, both between processes and within each."""
    by_process: dict[str, list[int]] = {}
    for member, target in targets.items():
        by_process.setdefault(processes[member], []).append(len(target.active))
    loads = [sum(counts) / len(counts) for counts in by_process.values()]
    return max(loads) - min(loads) <= 1 and all(max(counts) - min(counts) <= 1 for counts in by_process.values())


@given(PROCESSES, SHAPES, st.integers(0, 2))
def test_first_assignment_is_complete_and_balanced(processes: Processes, shapes: Shapes, standbys: int) -> None:
    targets = assign(specs(processes, {}), subtopologies(shapes), standbys)
    check(processes, shapes, standbys, targets)
    assert is_balanced(processes, targets)


@given(PROCESSES, SHAPES)
def test_assignment_repeated_without_changes_stays(processes: Processes, shapes: Shapes) -> None:
    former = assign(specs(processes, {}), subtopologies(shapes), 0)
    if max(len(each.active) for each in former.values()) - min(len(each.active) for each in former.values()) <= 1:
        assert assign(specs(processes, former), subtopologies(shapes), 0) == former


@given(st.lists(st.tuples(PROCESSES, SHAPES, st.integers(0, 2)), min_size=2, max_size=4))
def test_assignment_after_any_change_is_complete(changes: list[tuple[Processes, Shapes, int]]) -> None:
    former: dict[str, Tasks] = {}
    for processes, shapes, standbys in changes:
        former = assign(specs(processes, former), subtopologies(shapes), standbys)
        check(processes, shapes, standbys, former)


@given(PROCESSES, SHAPES, st.data())
def test_members_keep_active_tasks_up_to_their_share(processes: Processes, shapes: Shapes, data: st.DataObject) -> None:
    """A member that stays keeps its active tasks unless it has more than its share, which is rounded up."""
    former = assign(specs(processes, {}), subtopologies(shapes), 0)
    staying = {member: process for member, process in processes.items() if data.draw(st.booleans(), label=member)} or processes
    targets = assign(specs(staying, former), subtopologies(shapes), 0)
    share = -(-len(tasks_of(shapes)) // len(staying))
    for member in staying:
        if len(former[member].active) <= len(tasks_of(shapes)) // len(staying):
            assert former[member].active <= targets[member].active
        assert len(former[member].active & targets[member].active) <= share


def test_standby_takes_over_tasks_of_lost_process() -> None:
    processes = {"m": "a", "n": "b", "o": "c"}
    shapes: Shapes = {"0": (6, True)}
    former = assign(specs(processes, {}), subtopologies(shapes), 2)
    lost = former["o"].active
    del processes["o"]
    targets = assign(specs(processes, former), subtopologies(shapes), 2)
    check(processes, shapes, 2, targets)
    assert all(lost & targets[member].active <= former[member].standby for member in processes)


def test_large_group_is_assigned_completely() -> None:
    processes = {f"m{number}": f"p{number // 2}" for number in range(200)}
    shapes: Shapes = {"0": (2_000, True)}
    check(processes, shapes, 1, assign(specs(processes, {}), subtopologies(shapes), 1))
