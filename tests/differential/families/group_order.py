"""The order of groups and members in answers, which follows from Kafka's hash tables."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case, Send
from ..group_requests import ONE, TOPICS, ConsumerMember, commit, delete_groups, describe, describe_consumers, list_groups

COORDINATORS = tuple((2,) if index % 3 == 0 else (1,) for index in range(20))
"""Node 1 coordinates so many partitions that the hash table of their coordinators has been enlarged."""
SETTINGS = {"offsets.topic.num.partitions": str(len(COORDINATORS)), "group.consumer.max.size": "40"}
NODES = (1, 2)
WORDS = ("orders", "billing", "g", "grüße", "a-rather-long-name-of-a-group", "console-consumer")
NAMES = [f"{word}-{number}" for number in range(15) for word in WORDS]
FEW = ["few-a", "few-b", "few-c"]
GROUP = "group_order.members"


def ordered(request: Send, node: int = 1) -> Send:
    return request._replace(node=node, in_order=True)


def cases() -> Iterator[Case]:
    for word, names in (("few", FEW), ("many", NAMES)):
        commits = [commit(name)._replace(node=node) for name in names for node in NODES]
        yield Case(f"group_order.make.{word}", TOPICS, (), tuple(commits))
        yield Case(f"group_order.list.{word}", TOPICS, tuple(ordered(list_groups(), node) for node in NODES))
        requests = [*names[::7], "nobody", *names[:5], "", "nobody-else"]
        for node in NODES:
            steps = describe(*requests), describe_consumers(*requests), delete_groups("no-a", "no-b", "", "no-c", "no-d")
            yield Case(f"group_order.describe.{word}.{node}", TOPICS, tuple(ordered(step, node) for step in steps))
    for count in (2, 3, 12, 30):
        members = [ConsumerMember(f"{GROUP}.{count}", f"member-{number}") for number in range(count)]
        joins = [member.join(ONE.name)._replace(node=node, connection="") for member in members for node in NODES]
        shown = tuple(ordered(describe_consumers(f"{GROUP}.{count}"), node) for node in NODES)
        yield Case(f"group_order.members.{count}", TOPICS, shown, tuple(joins))
