"""Requests of members of streams groups, and topologies, for the families of streams groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from odradek.protocol.messages import streams_group_heartbeat as messages
from odradek.protocol.messages.streams_group_describe import STREAMS_GROUP_DESCRIBE, StreamsGroupDescribeRequest
from odradek.protocol.messages.streams_group_heartbeat import STREAMS_GROUP_HEARTBEAT, StreamsGroupHeartbeatRequest

from .case import Pause, Send, Topic
from .group_requests import LONG_MS, commit

ONE, TWO, WIDE = Topic("streams-one"), Topic("streams-two"), Topic("streams-wide", {}, ((1,), (1,), (2,), (2,)))
SINGLE = Topic("streams-single", {}, ((1,),))
TOPICS = (ONE, TWO, WIDE, SINGLE)
"""The topics have two, two, four partitions and one."""
CREATED = Pause(700)
"""Apache Kafka creates internal topics after it has answered the heartbeat."""
NO_TASKS: dict[str, Sequence[int]] = {}
Tasks = Mapping[str, Sequence[int]]


def internal(name: str, partitions: int = 0, replication_factor: int = 0, **configs: str) -> messages.TopicInfo:
    """Returns an internal topic; `_` in names of settings stands for `.`."""
    pairs = [messages.KeyValue(key=key.replace("_", "."), value=value) for key, value in configs.items()]
    return messages.TopicInfo(name=name, partitions=partitions, replication_factor=replication_factor, topic_configs=pairs)


def part(
    name: str,
    *sources: str,
    changelogs: Sequence[messages.TopicInfo] = (),
    sinks: Sequence[str] = (),
    repartitions: Sequence[messages.TopicInfo] = (),
    copartitions: Sequence[tuple[Sequence[int], Sequence[int]]] = (),
    regexes: Sequence[str] = (),
) -> messages.Subtopology:
    groups = [
        messages.CopartitionGroup(source_topics=list(read), source_topic_regex=[], repartition_source_topics=list(again))
        for read, again in copartitions
    ]
    return messages.Subtopology(
        subtopology_id=name,
        source_topics=list(sources),
        source_topic_regex=list(regexes),
        state_changelog_topics=list(changelogs),
        repartition_sink_topics=list(sinks),
        repartition_source_topics=list(repartitions),
        copartition_groups=groups,
    )


def topology(*parts: messages.Subtopology, epoch: int = 0) -> messages.Topology:
    return messages.Topology(epoch=epoch, subtopologies=list(parts))


READS_ONE = topology(part("0", ONE.name))
READS_WIDE = topology(part("0", WIDE.name))


def counting(group: str) -> messages.Topology:
    """Returns the topology of a word count: a repartition topic between two subtopologies, the second of which has state."""
    words, counts = f"{group}-words", f"{group}-counts"
    return topology(
        part("0", ONE.name, sinks=[words]),
        part("1", repartitions=[internal(words)], changelogs=[internal(counts, cleanup_policy="compact")]),
    )


def stateful(group: str, topic: str = ONE.name) -> messages.Topology:
    """Returns a topology with one subtopology that has a changelog topic."""
    return topology(part("0", topic, changelogs=[internal(f"{group}-store")]))


class StreamsMember:
    """A member of a streams group. Its id is its name; by default each member is a process of its own."""

    def __init__(self, group: str, name: str, process: str | None = None) -> None:
        self.group, self.name, self.process = group, name, process or f"p{name}"

    def join(self, wanted: messages.Topology | None = READS_ONE, **fields: Any) -> Send:
        """Returns the first heartbeat of a member."""
        first: dict[str, Any] = {"rebalance_timeout_ms": LONG_MS, "process_id": self.process, "client_tags": [], "topology": wanted}
        return self.beat(0, **{"active": NO_TASKS, "standby": NO_TASKS, "warmup": NO_TASKS} | first | fields)

    def beat(
        self, epoch: int, *, active: Tasks | None = None, standby: Tasks | None = None, warmup: Tasks | None = None, **fields: Any
    ) -> Send:
        """Returns a heartbeat with the named fields. If any tasks are given, the other roles are empty unless they are given too."""
        if active is not None and epoch:
            standby, warmup = standby or NO_TASKS, warmup or NO_TASKS
        values: dict[str, Any] = {"group_id": self.group, "member_id": self.name, "endpoint_information_epoch": 0} | fields
        roles = {"active_tasks": _tasks(active), "standby_tasks": _tasks(standby), "warmup_tasks": _tasks(warmup)}
        request = StreamsGroupHeartbeatRequest(**{"member_epoch": epoch, **roles, **values})
        return Send(STREAMS_GROUP_HEARTBEAT, 0, request, connection=self.name)

    def leave(self, **fields: Any) -> Send:
        return self.beat(-1, **fields)

    def commit(self, epoch: int, offsets: Mapping[str, Mapping[int, int]] | None = None, version: int = 9) -> Send:
        return commit(self.group, offsets or {ONE.name: {0: 1}}, member=self.name, epoch=epoch, version=version)


def _tasks(tasks: Tasks | None) -> list[messages.TaskIds] | None:
    return None if tasks is None else [messages.TaskIds(subtopology_id=name, partitions=list(each)) for name, each in tasks.items()]


def endpoint(port: int, host: str = "host") -> messages.Endpoint:
    return messages.Endpoint(host=host, port=port)


def tags(*pairs: tuple[str, str]) -> list[messages.KeyValue]:
    return [messages.KeyValue(key=key, value=value) for key, value in pairs]


def describe_streams(*groups: str, operations: bool = False) -> Send:
    return Send(STREAMS_GROUP_DESCRIBE, 0, StreamsGroupDescribeRequest(group_ids=list(groups), include_authorized_operations=operations))
