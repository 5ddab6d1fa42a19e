"""A cluster without the consumer protocol (`group.coordinator.rebalance.protocols`). Kafka does not start without the classic protocol."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from ..group_requests import TOPICS, ClassicMember, ConsumerMember, describe, describe_consumers, list_groups

SETTINGS = {"group.coordinator.rebalance.protocols": "classic"}


def cases() -> Iterator[Case]:
    for version in (0, 1):
        group = f"only_classic.v{version}"
        member = ConsumerMember(group, "m")
        beats = (member.join(version=version), member.beat(5, version=version), member.beat(0, version=version, group_id=""))
        described = (describe_consumers(group, version=version), describe_consumers(group, "", group, operations=True, version=version))
        yield Case(f"only_classic.v{version}", TOPICS, (*beats, *described, describe_consumers(version=version)))
    a = ClassicMember("only_classic.classic", "a")
    all_described = (describe(a.group), describe_consumers(a.group), list_groups())
    yield Case("only_classic.classic", TOPICS, (*a.enter(), *all_described, ConsumerMember(a.group, "m").join(), a.leave()))
