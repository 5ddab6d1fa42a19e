"""Says in words what a fault has hit, and why recent requests did not match it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from difflib import get_close_matches

from ..plurals import counted
from .fault import Fault, Mismatch

SHOWN = 5
"""The number of values that an explanation lists."""

_NOT_MET = {
    "topic": "to topic",
    "group": "of group",
    "partitions": "to partitions",
    "node": "to node",
    "listener": "on listener",
    "client_id": "from client id",
    "client_software": "from client software",
    "principal": "from principal",
    "peer": "from peer",
    "connection": "on connection",
    "transactional_id": "with transactional id",
    "acks": "with acks",
    "min_version": "of version at least",
    "max_version": "of version at most",
}
_LEFT_ALONE = {
    "when": "did not meet the condition `when`",
    "after": "came before `after`",
    "until": "came after `until`",
    "skip": "were let pass by `skip`",
    "every": "were let pass by `every`",
    "times": "came after the last of the `times`",
    "probability": "were spared by `probability`",
    "point": "were at other points",
    "possible": "came when the fault could not happen",
}


def describe_fault(fault: Fault, topics: Iterable[str]) -> str:
    """Returns the fault with its options, its hits and the reasons of its misses. `topics` are the existing ones, for hints."""
    state = "removed, " if fault.removed else ""
    hits = counted(fault.hits, "hit")
    return f"fault {fault.number} ({fault.text}): {state}{hits}; {describe_misses(fault, topics)}"


def describe_misses(fault: Fault, topics: Iterable[str]) -> str:
    """Returns why requests did not match, such as "12 Produce requests seen, none to topic 'order'; did you mean 'orders'?"."""
    subject = " ".join(("/".join(fault.criteria.apis or ()), fault.subject)).strip()
    total = fault.misses.total() + fault.hits
    if not total:
        return f"no {subject} seen" + (f", {fault.others} of other APIs" if fault.others else "")
    seen = f"{counted(total, subject)} seen"
    names = dict.fromkeys(reason.criterion for _, reason in fault.misses)
    return ", ".join([seen, *(_reason(fault, name, fault.misses, total, topics) for name in names)])


def _reason(fault: Fault, name: str, misses: Counter[tuple[str, Mismatch]], total: int, topics: Iterable[str]) -> str:
    """Returns how many requests failed one criterion, and what they had instead."""
    count = sum(count for (_, reason), count in misses.items() if reason.criterion == name)
    if name in _LEFT_ALONE:
        return f"{count} {_LEFT_ALONE[name]}"
    wanted = fault.criteria.text(name)
    text = f"{'none' if count == total else f'{count} not'} {_NOT_MET[name]} {wanted}"
    actual = sorted({value for _, reason in misses if reason.criterion == name for value in reason.actual})
    known = [*actual, *(topics if name == "topic" else ())]
    near = get_close_matches(wanted.strip("'"), known, 1)
    if near and repr(near[0]) != wanted:
        return f"{text}; did you mean {near[0]!r}?"
    return f"{text} but {_NOT_MET[name]} {', '.join(actual[:SHOWN])}" if actual else text
