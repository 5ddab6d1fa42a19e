"""A cluster without the consumer protocol (`group.coordinator.rebalance.protocols`). One without the classic protocol does not start."""

from __future__ import annotations

from collections.abc import Iterator

from ..grouping import TOPICS, Classic, Modern, describe, describe_consumers, list_groups
from ..script import Case

SETTINGS = {"group.coordinator.rebalance.protocols": "classic"}


def cases() -> Iterator[Case]:
    for version in (0, 1):
        group = f"only_classic.v{version}"
        member = Modern(group, "m")
        beats = (member.join(version=version), member.beat(5, version=version), member.beat(0, version=version, group_id=""))
        described = (describe_consumers(group, version=version), describe_consumers(group, "", group, operations=True, version=version))
        yield Case(f"only_classic.v{version}", TOPICS, (*beats, *described, describe_consumers(version=version)))
    a = Classic("only_classic.classic", "a")
    described = (describe(a.group), describe_consumers(a.group), list_groups())
    yield Case("only_classic.classic", TOPICS, (*a.enter(), *described, Modern(a.group, "m").join(), a.leave()))
