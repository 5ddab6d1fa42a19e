"""ListGroups, DescribeGroups and DeleteGroups over groups in every state. The first cases create the groups for the others."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.protocol.messages.consumer_group_describe import CONSUMER_GROUP_DESCRIBE
from odradek.protocol.messages.delete_groups import DELETE_GROUPS
from odradek.protocol.messages.describe_groups import DESCRIBE_GROUPS
from odradek.protocol.messages.list_groups import LIST_GROUPS

from ..case import Case, all_versions
from ..group_requests import TOPICS, ConsumerMember, delete_groups, describe, describe_consumers, list_groups
from .group_states import STATES

GROUPS = [f"group_lists.{state}" for state in STATES]
STATE_FILTERS = (
    *("Stable", "stable", "STABLE", "Empty", "PreparingRebalance", "preparingrebalance", "CompletingRebalance", "Assigning", "Reconciling"),
    *("Dead", "Unknown", "", " Stable ", "NotReady", "nonsense"),
)
TYPE_FILTERS = ("classic", "Classic", "CONSUMER", "consumer", "share", "streams", "unknown", "nonsense", "", " consumer ")


def cases() -> Iterator[Case]:
    yield Case("group_lists.none", TOPICS, (list_groups(), list_groups(node=2), describe(), delete_groups()))
    for state, reach in STATES.items():
        yield Case(f"group_lists.make.{state}", TOPICS, (), reach(f"group_lists.{state}").steps)
    yield from filters()
    yield from descriptions()
    yield from deletions()


def filters() -> Iterator[Case]:
    for version in all_versions(LIST_GROUPS):
        yield Case(f"group_lists.list.v{version}", TOPICS, (list_groups(version=version), list_groups(version=version, node=2)))
    for version in (4, 5):
        for state in STATE_FILTERS:
            yield Case(f"group_lists.states.v{version}.{state}", TOPICS, (list_groups([state], version=version),))
        yield Case(f"group_lists.states.v{version}", TOPICS, (list_groups(["Stable", "Empty", "nonsense"], version=version),))
    for kind in TYPE_FILTERS:
        yield Case(f"group_lists.types.{kind}", TOPICS, (list_groups(types=[kind]), list_groups(["Stable"], [kind])))
    yield Case("group_lists.types", TOPICS, (list_groups(types=["classic", "consumer"]), list_groups(types=["classic", "nonsense"])))
    n = ConsumerMember("group_lists.consumer", "n")
    yield Case(
        "group_lists.reconciling", TOPICS, (n.join(), list_groups(["Reconciling"]), list_groups(["Stable"], ["consumer"]), n.leave())
    )


def descriptions() -> Iterator[Case]:
    for version in all_versions(DESCRIBE_GROUPS):
        requests = tuple(describe(group, version=version, operations=True) for group in GROUPS)
        yield Case(f"group_lists.describe.v{version}", TOPICS, requests)
    for version in all_versions(CONSUMER_GROUP_DESCRIBE):
        requests = tuple(describe_consumers(group, version=version, operations=True) for group in GROUPS)
        yield Case(f"group_lists.describe-consumers.v{version}", TOPICS, requests)
    several = ("group_lists.stable", "none", "group_lists.consumer", "", "group_lists.emptied")
    yield Case("group_lists.describe.several", TOPICS, (describe(*several), describe_consumers(*several), describe("x", "x")))


def deletions() -> Iterator[Case]:
    for version in all_versions(DELETE_GROUPS):
        some = ("group_lists.stable", "none", "none", "", "group_lists.consumer", "group_lists.completing", "group_lists.mixed")
        yield Case(f"group_lists.delete.v{version}", TOPICS, (delete_groups(*some, version=version),))
    gone = ("group_lists.emptied", "group_lists.simple", "group_lists.consumer-emptied", "group_lists.pending", "group_lists.emptied")
    yield Case("group_lists.delete", TOPICS, (delete_groups(*gone), list_groups(), describe(*gone), delete_groups(*gone)))
