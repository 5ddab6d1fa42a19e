"""Share groups among other groups: requests of share groups to groups of other kinds, the requests of other groups to share groups, and
listings, which also show share groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from odradek.protocol.messages.describe_groups import DESCRIBE_GROUPS
from odradek.protocol.messages.list_groups import LIST_GROUPS

from ..case import Case, Pause, Step, all_versions
from ..group_requests import TOPICS as GROUP_TOPICS
from ..group_requests import delete_groups, describe, describe_consumers, list_groups
from ..share_group_requests import ONE, SETTINGS, SETTLE, ShareMember, alter_share, delete_share, describe_shares, share_offsets
from ..share_group_requests import TOPICS as SHARE_TOPICS
from ..transaction_requests import Producer
from .group_states import PROBES, STATES

__all__ = ["SETTINGS", "cases"]

TOPICS = (*GROUP_TOPICS, *SHARE_TOPICS)
Steps = tuple[Step, ...]


def cases() -> Iterator[Case]:
    m = ShareMember("share_kinds.first")
    yield Case("share_kinds.first", TOPICS, (m.join(), Pause(3000), m.beat(2)))
    yield from listings()
    for state, reach in STATES.items():
        for name, send in SHARE_PROBES.items():
            group = f"share_kinds.{state}.{name}"
            yield Case(
                group, TOPICS, (*send(group), describe(group), describe_consumers(group), describe_shares(group)), reach(group).steps
            )
    for state, begin in (("joined", joined), ("emptied", emptied)):
        for name, probe in PROBES.items():
            group = f"share_kinds.share-{state}.{name}"
            yield Case(group, TOPICS, (*probe(group, 3), describe_shares(group)), begin(group))
        group = f"share_kinds.share-{state}.transaction"
        p = Producer(group)
        sent = p.init(), p.add_offsets(), p.commit_offsets(group=group), p.commit_offsets(group=group, member=(1, "m", None)), p.end()
        yield Case(group, TOPICS, (*sent, describe_shares(group)), begin(group))
        group = f"share_kinds.share-{state}.described"
        described = [describe(group, version=version, operations=True) for version in all_versions(DESCRIBE_GROUPS)]
        yield Case(group, TOPICS, (*described, describe_consumers(group), describe_shares(group, operations=True)), begin(group))


def joined(group: str) -> Steps:
    m = ShareMember(group)
    return m.join(), SETTLE, m.beat(2)


def emptied(group: str) -> Steps:
    return *joined(group), ShareMember(group).leave()


SHARE_PROBES: dict[str, Callable[[str], Steps]] = {
    "share.join": lambda group: (ShareMember(group, "s").join(), SETTLE),
    "share.beat": lambda group: (ShareMember(group, "m").beat(2),),
    "share.leave": lambda group: (ShareMember(group, "m").leave(),),
    "share.offsets": lambda group: (share_offsets(group), share_offsets(group, {ONE.name: [0]})),
    "share.alter": lambda group: (alter_share(group, {ONE.name: {0: 1}}), SETTLE),
    "share.alter-nothing": lambda group: (alter_share(group, {}),),
    "share.delete-offsets": lambda group: (delete_share(group, ONE.name),),
}


def listings() -> Iterator[Case]:
    for state, begin in (("joined", joined), ("emptied", emptied)):
        yield Case(f"share_kinds.list.make.{state}", TOPICS, (), begin(f"share_kinds.list.{state}"))
    for version in all_versions(LIST_GROUPS):
        yield Case(f"share_kinds.list.v{version}", TOPICS, (list_groups(version=version), list_groups(version=version, node=2)))
    for state in ("Stable", "empty", "DEAD", "Assigning", ""):
        yield Case(f"share_kinds.list.state.{state}", TOPICS, (list_groups([state]), list_groups([state], version=4)))
    for kind in ("share", "Share", " share ", "consumer", "classic", "streams"):
        yield Case(f"share_kinds.list.type.{kind}", TOPICS, (list_groups(types=[kind]), list_groups(["Empty"], [kind])))
    both = "share_kinds.list.joined", "share_kinds.list.emptied"
    gone = delete_groups(*both), list_groups(), describe_shares(*both), delete_groups(*both)
    yield Case("share_kinds.list.deleted", TOPICS, (describe_shares(*both, "none", ""), *gone))
