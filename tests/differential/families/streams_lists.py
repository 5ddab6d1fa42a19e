"""ListGroups, StreamsGroupDescribe and DeleteGroups over streams groups in every state."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from ..group_requests import ConsumerMember, delete_groups, list_groups
from ..streams_requests import StreamsMember, describe_streams
from .streams_groups import SETTINGS
from .streams_states import ALL_TOPICS, STATES

__all__ = ["SETTINGS", "cases"]

GROUPS = [f"streams_lists.{state}" for state in STATES]
STATE_FILTERS = ("NotReady", "not_ready", "NOT_READY", "notready", "Stable", "Assigning", "reconciling", "Empty", "Dead")
TYPE_FILTERS = ("streams", "STREAMS", " streams", "consumer")


def cases() -> Iterator[Case]:
    for state, reach in STATES.items():
        group = f"streams_lists.{state}"
        yield Case(f"streams_lists.make.{state}", ALL_TOPICS, (list_groups(),), reach(group))
    for state in STATE_FILTERS:
        yield Case(f"streams_lists.states.{state}", ALL_TOPICS, (list_groups([state]), list_groups([state], ["streams"], version=5)))
    for kind in TYPE_FILTERS:
        yield Case(f"streams_lists.types.{kind}", ALL_TOPICS, (list_groups(types=[kind]),))
    several = (*GROUPS, "streams_lists.none", "", GROUPS[0])
    yield Case("streams_lists.describe", ALL_TOPICS, (describe_streams(*several), describe_streams(*several, operations=True)))
    gone = (delete_groups(*several), describe_streams(*several), list_groups())
    yield Case("streams_lists.delete", ALL_TOPICS, gone)
    m, c = StreamsMember("streams_lists.conversion", "m"), ConsumerMember("streams_lists.conversion", "c")
    back = (
        delete_groups(m.group),
        c.join(),
        c.leave(),
        m.join(),
        delete_groups(m.group),
        m.join(),
        describe_streams(m.group),
        list_groups(),
    )
    yield Case("streams_lists.conversion", ALL_TOPICS, (m.join(), m.leave(), c.join(), *back))
