"""StreamsGroupHeartbeat and StreamsGroupDescribe (KIP-1071). The rules are in groups/streams/.

Both are refused unless the feature streams.version is at level 1 and group.coordinator.rebalance.protocols contains `streams`. A heartbeat
also creates the internal topics of the topology that are missing, with the rights of the client. It does not wait for them: the member
finds them with a later heartbeat, or the errors of their creation.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import TypeVar

from ...protocol.errors import ErrorCode, KafkaError, shorten_message
from ...protocol.messages import streams_group_heartbeat as messages
from ...protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ...protocol.messages.streams_group_describe import (
    STREAMS_GROUP_DESCRIBE,
    DescribedGroup,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)
from ...protocol.messages.streams_group_heartbeat import (
    STREAMS_GROUP_HEARTBEAT,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from ..api.context import Context
from ..api.registry import handles
from ..cluster.features import STREAMS_VERSION
from ..groups.streams.configuration import NewTopic
from ..groups.streams.group import StreamsGroup
from ..groups.streams.heartbeat import (
    LEAVE_STATIC_EPOCH,
    EndpointPartitions,
    OwnedTasks,
    StatusCode,
    StreamsHeartbeat,
    StreamsHeartbeatResult,
)
from ..groups.streams.member import Endpoint
from ..groups.streams.tasks import Task, by_subtopology
from ..groups.streams.topology import CopartitionGroup, InternalTopicInfo, Subtopology, Topology
from ..kafka_quirks.java_hash import hash_map_order
from ..scheduling.waiting import Wait
from ..security.acls import Operation, ResourceType
from ..topics.names import INTERNAL_TOPICS
from ..topics.topics import illegal_name
from .described_groups import demand_topics, describe_groups, is_enabled, missing_group_text
from .streams_group_descriptions import describe_group, topics_of
from .topics import create, identify

NAMED_ERRORS = 3
"""The number of topics whose creation error a status contains."""
T = TypeVar("T")


@handles(STREAMS_GROUP_HEARTBEAT)
def streams_group_heartbeat(
    request: StreamsGroupHeartbeatRequest, context: Context
) -> StreamsGroupHeartbeatResponse | Generator[Wait, None, StreamsGroupHeartbeatResponse]:
    """Adds a member, continues its membership, or removes it. The response contains the tasks when they have changed."""
    try:
        _check_access(request, context)
        _check_supported(request)
        _check(request)
        if not context.is_coordinator(request.group_id):
            raise KafkaError(ErrorCode.NOT_COORDINATOR)
        result = context.cluster.groups.streams.heartbeat(request.group_id, _heartbeat(request, context))
    except KafkaError as error:
        return StreamsGroupHeartbeatResponse(error_code=error.code, error_message=error.message, status=[])
    response = _response(result)
    return _create_missing(result, response, context) if result.missing_topics else response


def _is_enabled(context: Context) -> bool:
    return is_enabled("streams", STREAMS_VERSION, context)


# Checks


def _check_access(request: StreamsGroupHeartbeatRequest, context: Context) -> None:
    """Raises KafkaError as Kafka does before it reads the request: UNSUPPORTED_VERSION, authorization errors, STREAMS_INVALID_TOPOLOGY."""
    if not _is_enabled(context):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    if not context.may(Operation.READ, ResourceType.GROUP, request.group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    names = list(dict.fromkeys(name for part in request.topology.subtopologies for name in _names(part))) if request.topology else []
    if internal := [name for name in names if name in INTERNAL_TOPICS]:
        reason = f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is prohibited."
        raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, reason)
    if illegal := [name for name in names if illegal_name(name)]:
        raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, shorten_message(f"Topic names {','.join(illegal)} are not valid topic names."))
    if not all(context.may(Operation.DESCRIBE, ResourceType.TOPIC, name) for name in names):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def _names(part: messages.Subtopology) -> Iterator[str]:
    yield from part.source_topics
    yield from part.repartition_sink_topics
    yield from (topic.name for topic in part.repartition_source_topics)
    yield from (topic.name for topic in part.state_changelog_topics)


def _check_supported(request: StreamsGroupHeartbeatRequest) -> None:
    """Raises KafkaError with INVALID_REQUEST for features of KIP-1071 that Kafka 4.3 does not implement."""
    subtopologies = request.topology.subtopologies if request.topology else []
    for is_used, reason in (
        (request.instance_id is not None, "Static membership is not yet supported."),
        (request.task_offsets is not None, "TaskOffsets are not supported yet."),
        (request.task_end_offsets is not None, "TaskEndOffsets are not supported yet."),
        (request.warmup_tasks, "WarmupTasks are not supported yet."),
        (any(part.source_topic_regex for part in subtopologies), "Regular expressions for source topics are not supported yet."),
    ):
        if is_used:
            raise KafkaError(ErrorCode.INVALID_REQUEST, reason)


def _check(request: StreamsGroupHeartbeatRequest) -> None:
    """Raises KafkaError with INVALID_REQUEST or STREAMS_INVALID_TOPOLOGY (GroupCoordinatorService)."""
    for value, name in ((request.member_id, "MemberId"), (request.group_id, "GroupId"), (request.rack_id, "RackId")):
        if value is not None and not value.strip():
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} can't be empty.")
    tasks = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    problem = None
    if request.member_epoch == 0:
        _check_first(request)
    elif request.member_epoch == LEAVE_STATIC_EPOCH:
        problem = "InstanceId can't be null."
    elif request.member_epoch < LEAVE_STATIC_EPOCH:
        problem = f"MemberEpoch is {request.member_epoch}, but must be greater than or equal to -2."
    elif any(each is not None for each in tasks) and any(each is None for each in tasks):
        problem = "If one task-type is non-null, all must be non-null."
    elif request.topology is not None:
        problem = "Topology can only be provided when (re-)joining."
    if problem is not None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, problem)


def _check_first(request: StreamsGroupHeartbeatRequest) -> None:
    for is_wrong, problem in (
        (request.rebalance_timeout_ms == -1, "RebalanceTimeoutMs must be provided in first request."),
        (request.active_tasks != [], "ActiveTasks must be empty when (re-)joining."),
        (request.standby_tasks != [], "StandbyTasks must be empty when (re-)joining."),
        (request.warmup_tasks != [], "WarmupTasks must be empty when (re-)joining."),
        (request.topology is None, "Topology must be non-null when (re-)joining."),
    ):
        if is_wrong:
            raise KafkaError(ErrorCode.INVALID_REQUEST, problem)
    for part in request.topology.subtopologies if request.topology else ():
        for topic in part.state_changelog_topics:
            if topic.partitions:
                reason = f"Changelog topic {topic.name} must have an undefined partition count, but it is set to {topic.partitions}."
                raise KafkaError(ErrorCode.STREAMS_INVALID_TOPOLOGY, reason)


# The request


def _heartbeat(request: StreamsGroupHeartbeatRequest, context: Context) -> StreamsHeartbeat:
    endpoint, tags = request.user_endpoint, request.client_tags
    return StreamsHeartbeat(
        member_id=request.member_id,
        epoch=request.member_epoch,
        endpoint_epoch=request.endpoint_information_epoch,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topology=None if request.topology is None else _topology(request.topology),
        active=_owned_tasks(request.active_tasks),
        standby=_owned_tasks(request.standby_tasks),
        warmup=_owned_tasks(request.warmup_tasks),
        process_id=request.process_id,
        endpoint=None if endpoint is None else Endpoint(endpoint.host, endpoint.port),
        client_tags=None if tags is None else {tag.key: tag.value for tag in tags},
        shutdown_application=request.shutdown_application,
        client_id=context.client.client_id,
        client_host=f"/{context.client.client_host}",
        is_malformed=_is_malformed(request),
    )


def _is_malformed(request: StreamsGroupHeartbeatRequest) -> bool:
    """Returns whether a tag or a subtopology occurs twice, or the epoch of the topology is negative."""
    tags = [tag.key for tag in request.client_tags or ()]
    parts = [part.subtopology_id for part in request.topology.subtopologies] if request.topology else []
    has_wrong_epoch = request.topology is not None and request.topology.epoch < 0
    return has_wrong_epoch or len(set(tags)) < len(tags) or len(set(parts)) < len(parts)


def _owned_tasks(tasks: list[messages.TaskIds] | None) -> OwnedTasks | None:
    return None if tasks is None else tuple((each.subtopology_id, tuple(each.partitions)) for each in tasks)


def _topology(topology: messages.Topology) -> Topology:
    return Topology(topology.epoch, {part.subtopology_id: _subtopology(part) for part in topology.subtopologies})


def _subtopology(part: messages.Subtopology) -> Subtopology:
    return Subtopology(
        part.subtopology_id,
        tuple(part.source_topics),
        tuple(map(_internal_topic, part.state_changelog_topics)),
        tuple(part.repartition_sink_topics),
        tuple(map(_internal_topic, part.repartition_source_topics)),
        tuple(CopartitionGroup(tuple(each.source_topics), tuple(each.repartition_source_topics)) for each in part.copartition_groups),
    )


def _internal_topic(topic: messages.TopicInfo) -> InternalTopicInfo:
    configs = tuple((config.key, config.value) for config in topic.topic_configs)
    return InternalTopicInfo(topic.name, topic.partitions, topic.replication_factor, configs)


# The response


def _response(result: StreamsHeartbeatResult) -> StreamsGroupHeartbeatResponse:
    tasks = result.tasks
    return StreamsGroupHeartbeatResponse(
        member_id=result.member_id,
        member_epoch=result.epoch,
        heartbeat_interval_ms=result.heartbeat_interval_ms,
        status=[messages.Status(status_code=status.code, status_detail=status.detail) for status in result.statuses],
        active_tasks=None if tasks is None else _tasks(tasks.active),
        standby_tasks=None if tasks is None else _tasks(tasks.standby),
        warmup_tasks=None if tasks is None else _tasks(tasks.warmup),
        endpoint_information_epoch=result.endpoint_epoch,
        partitions_by_user_endpoint=None if result.endpoints is None else list(map(_endpoint_partitions, result.endpoints)),
    )


def _tasks(tasks: Iterable[Task]) -> list[messages.TaskIds]:
    grouped = by_subtopology(tasks)
    return [messages.TaskIds(subtopology_id=name, partitions=grouped[name]) for name in hash_map_order(grouped)]


def _endpoint_partitions(each: EndpointPartitions) -> messages.EndpointToPartitions:
    active, standby = (
        [messages.TopicPartition(topic=topic, partitions=partitions) for topic, partitions in some] for some in (each.active, each.standby)
    )
    endpoint = messages.Endpoint(host=each.endpoint.host, port=each.endpoint.port)
    return messages.EndpointToPartitions(user_endpoint=endpoint, active_partitions=active, standby_partitions=standby)


def _create_missing(
    result: StreamsHeartbeatResult, response: StreamsGroupHeartbeatResponse, context: Context
) -> Generator[Wait, None, StreamsGroupHeartbeatResponse]:
    """Creates internal topics, or adds to the status why that is impossible. An error is shown from the next heartbeat on, as in Kafka."""
    names = [topic.name for topic in result.missing_topics]
    may_create_all = context.may(Operation.CREATE, ResourceType.CLUSTER)
    denied = [name for name in names if not (may_create_all or context.may(Operation.CREATE, ResourceType.TOPIC, name))]
    errors = context.cluster.groups.streams.creation_errors
    known = errors.of(names)
    if denied:
        _explain(response, f"; Unauthorized to CREATE on topics {', '.join(denied)}.")
        return response
    if known:
        shown = ", ".join(f"{name} ({error})" for name, error in list(known.items())[:NAMED_ERRORS])
        more = f" and {len(known) - NAMED_ERRORS} more" if len(known) > NAMED_ERRORS else ""
        _explain(response, f"; Creation failed: {shown}{more}.")
    wanted = [_creatable(topic) for topic in result.missing_topics if topic.name not in known]
    created = yield from create(CreateTopicsRequest(topics=wanted), context, identify, strict=True)
    for outcome in created.topics:
        if outcome.error_code:
            errors.add(outcome.name, outcome.error_message or ErrorCode(outcome.error_code).name, 2 * result.heartbeat_interval_ms)
    return response


def _explain(response: StreamsGroupHeartbeatResponse, text: str) -> None:
    for status in response.status or ():
        if status.status_code == StatusCode.MISSING_INTERNAL_TOPICS:
            status.status_detail += text


def _creatable(topic: NewTopic) -> CreatableTopic:
    return CreatableTopic(
        name=topic.name,
        num_partitions=topic.partitions,
        replication_factor=topic.replication_factor or -1,
        assignments=[],
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in topic.configs],
    )


# StreamsGroupDescribe


@handles(STREAMS_GROUP_DESCRIBE)
def streams_group_describe(request: StreamsGroupDescribeRequest, context: Context) -> Generator[Wait, None, StreamsGroupDescribeResponse]:
    """Describes streams groups with their topologies, and the current and the target tasks of each member."""
    groups = yield from describe_groups(request, _describe, _refuse, context, enabled=_is_enabled(context))
    return StreamsGroupDescribeResponse(groups=groups)


def _describe(group_id: str, context: Context) -> DescribedGroup:
    group = context.cluster.groups.get(group_id)
    if not isinstance(group, StreamsGroup):
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, missing_group_text(group_id, group, "streams"))
    demand_topics(topics_of(group), context, "The described group uses topics that the client is not authorized to describe.")
    return describe_group(group)


def _refuse(group_id: str, error: ErrorCode, message: str | None) -> DescribedGroup:
    return DescribedGroup(error_code=error, error_message=message, group_id=group_id, members=[])
