"""The state of groups of the streams protocol (KIP-1071)."""

from __future__ import annotations

from ..groups.streams.changes import GroupEpoch, TargetEpoch
from ..groups.streams.configuration import Configuration, ConfiguredSubtopology, NewTopic, TopologyProblem
from ..groups.streams.group import StreamsGroup, Unwritten
from ..groups.streams.member import Endpoint, MemberState, StreamsMember
from ..groups.streams.reconciliation import TaskOwners
from ..groups.streams.requests import CreationErrors
from ..groups.streams.tasks import CurrentTasks, Tasks
from ..groups.streams.topology import CopartitionGroup, InternalTopicInfo, Subtopology, Topology
from .forms import MOMENT, PLAIN, TUPLE, Form, Record, coded, listed, mapped, named, optional, ordered

_PAIRS = listed(TUPLE, tuple)
_TASKS = ordered(TUPLE, frozenset)
_CURRENT_TASKS = named(CurrentTasks, active=mapped(TUPLE, PLAIN), standby=_TASKS, warmup=_TASKS)
_TARGET = named(Tasks, active=_TASKS, standby=_TASKS, warmup=_TASKS)
_NAMES = listed(PLAIN, tuple)

_MEMBER = named(
    StreamsMember,
    state=coded(MemberState),
    endpoint=optional(named(Endpoint)),
    client_tags=mapped(PLAIN, PLAIN),
    assigned=_CURRENT_TASKS,
    revoking=_CURRENT_TASKS,
)

_INTERNAL_TOPICS = listed(named(InternalTopicInfo, configs=_PAIRS), tuple)
_SUBTOPOLOGY = named(
    Subtopology,
    source_topics=_NAMES,
    changelog_topics=_INTERNAL_TOPICS,
    repartition_sink_topics=_NAMES,
    repartition_source_topics=_INTERNAL_TOPICS,
    copartition_groups=listed(named(CopartitionGroup, source_topics=_NAMES, repartition_source_topics=_NAMES), tuple),
)
_TOPOLOGY = named(Topology, subtopologies=mapped(PLAIN, _SUBTOPOLOGY))

_NEW_TOPIC = named(NewTopic, configs=_PAIRS)
_CONFIGURED = named(
    ConfiguredSubtopology,
    source_topics=ordered(kind=frozenset),
    repartition_source_topics=mapped(PLAIN, _NEW_TOPIC),
    repartition_sink_topics=ordered(kind=frozenset),
    changelog_topics=mapped(PLAIN, _NEW_TOPIC),
)
_CONFIGURATION = named(
    Configuration,
    subtopologies=optional(mapped(PLAIN, _CONFIGURED)),
    missing=listed(_NEW_TOPIC, tuple),
    problem=optional(named(TopologyProblem)),
)

UNWRITTEN = Record(
    Unwritten,
    {
        "configuration": optional(_CONFIGURATION),
        "topics_version": PLAIN,
        "endpoint_epoch": PLAIN,
        "shutdown_member": PLAIN,
    },
)


def _derive(group: StreamsGroup) -> None:
    group.readers = {} if group.topology is None else group.topology.readers()
    group.owners = TaskOwners()
    for member in group.members.values():
        group.owners.replace(None, member)


STREAMS_GROUP = Record(
    StreamsGroup,
    {
        "group_id": PLAIN,
        "group_epoch": named(GroupEpoch, assignment_configs=_PAIRS),
        "target_epoch": named(TargetEpoch, computed_at_ms=MOMENT),
        "topology": optional(_TOPOLOGY),
        "members": mapped(PLAIN, _MEMBER),
        "targets": mapped(PLAIN, _TARGET),
        "unwritten": UNWRITTEN,
        "is_dead": PLAIN,
    },
    apart=("readers", "owners", "timers", "settings", "cluster", "_remove_member", "_assign_delayed"),
    complete=_derive,
)

_ERROR = Form(list, lambda plain, shift_ms: (plain[0], MOMENT.read(plain[1], shift_ms)))
CREATION_ERRORS = Record(CreationErrors, {"_errors": mapped(PLAIN, _ERROR)}, apart=("_timers",))

# Its attributes follow from the members.
TASK_OWNERS = Record(TaskOwners, {}, apart=("_active", "_standby", "_warmup"))
