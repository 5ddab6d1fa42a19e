"""CreateTopics, DeleteTopics, CreatePartitions and DeleteRecords."""

from __future__ import annotations

from collections import Counter

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.create_partitions import (
    CREATE_PARTITIONS,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from ...protocol.messages.create_topics import (
    CREATE_TOPICS,
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ...protocol.messages.delete_records import (
    DELETE_RECORDS,
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ...protocol.messages.delete_topics import (
    DELETE_TOPICS,
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ...protocol.schema import ZERO_UUID
from ..cluster.state import MAX_PARTITIONS_PER_REQUEST
from ..context import Context
from ..lookup import find_led_partition, find_topic
from ..registry import handles
from ..security.acls import Operation, ResourceType
from ..topics.topic import Topic

HIGH_WATERMARK = -1


@handles(CREATE_TOPICS)
def create_topics(request: CreateTopicsRequest, context: Context) -> CreateTopicsResponse:
    """Creates each topic for itself; the results are in the order of the request."""
    named = Counter(topic.name for topic in request.topics)
    asked = sum(len(topic.assignments) or max(topic.num_partitions, 1) for topic in request.topics)
    may_create_all = context.may(Operation.CREATE, ResourceType.CLUSTER)
    results = []
    for wanted in {topic.name: topic for topic in request.topics}.values():
        try:
            if named[wanted.name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            if wanted.name == "__cluster_metadata":
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"Creation of internal topic {wanted.name} is prohibited.")
            if not (may_create_all or context.may(Operation.CREATE, ResourceType.TOPIC, wanted.name)):
                raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
            if asked > MAX_PARTITIONS_PER_REQUEST:
                raise KafkaError(
                    ErrorCode.POLICY_VIOLATION, f"{asked} partitions in one request; at most {MAX_PARTITIONS_PER_REQUEST} are allowed."
                )
            results.append(_created(_create(wanted, request.validate_only, context), context))
        except KafkaError as error:
            results.append(CreatableTopicResult(name=wanted.name, error_code=error.code, error_message=error.message, configs=[]))
    return CreateTopicsResponse(topics=results)


def _create(wanted: CreatableTopic, validate_only: bool, context: Context) -> Topic:
    cluster = context.cluster
    assignments = None
    if wanted.assignments:
        if wanted.replication_factor != -1:
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, "A manual partition assignment was specified, but replication factor was not set to -1."
            )
        if wanted.num_partitions != -1:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "A manual partition assignment was specified, but numPartitions was not set to -1.")
        by_index = {assignment.partition_index: assignment.broker_ids for assignment in wanted.assignments}
        if len(by_index) < len(wanted.assignments):
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "Found multiple manual partition assignments for one partition.")
        if sorted(by_index) != list(range(len(by_index))):
            raise KafkaError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, "partitions should be a consecutive 0-based integer sequence")
        assignments = [by_index[index] for index in range(len(by_index))]
    configs = {config.name: config.value for config in wanted.configs}
    return cluster.create_topic(
        wanted.name, wanted.num_partitions, wanted.replication_factor, assignments, configs, validate_only=validate_only
    )


def _created(topic: Topic, context: Context) -> CreatableTopicResult:
    if not context.may(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name):
        refused = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return CreatableTopicResult(name=topic.name, topic_id=topic.id, error_message=None, topic_config_error_code=refused, configs=[])
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic.id,
        error_message=None,
        num_partitions=len(topic.partitions),
        replication_factor=len(topic.partitions[0].replicas),
        configs=[
            CreatableTopicConfigs(
                name=entry.name,
                value=topic.config.overrides.get(entry.name, entry.value),
                read_only=entry.read_only,
                config_source=entry.source,
                is_sensitive=entry.is_sensitive,
            )
            for entry in topic.config.describe()
        ],
    )


@handles(DELETE_TOPICS)
def delete_topics(request: DeleteTopicsRequest, context: Context) -> DeleteTopicsResponse:
    """Deletes topics by name or, from v6 on, by id."""
    if not context.broker.config.booleans["delete.topic.enable"]:
        raise KafkaError(ErrorCode.TOPIC_DELETION_DISABLED if context.version >= 3 else ErrorCode.INVALID_REQUEST)
    wanted = request.topics or [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in request.topic_names]
    named = Counter((state.name, state.topic_id) for state in wanted)
    senseless = [state for state in wanted if not _names_one(state)]  # each is told so
    once = {(state.name, state.topic_id): state for state in wanted if _names_one(state)}
    found, results = Counter[Topic](), []
    for state in (*senseless, *once.values()):
        result = DeletableTopicResult(name=state.name, topic_id=state.topic_id)
        try:
            if named[state.name, state.topic_id] > 1 or not _names_one(state):
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Either a name or an id is needed, not both, and only once.")
            found[_find_deletable(result, context)] += 1
        except KafkaError as error:
            # The text of an authorization error names the topic, which a client that gave its id may not be told.
            told = None if error.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED else error.message
            result.error_code, result.error_message = error.code, told or error.code.name
            results.append(result)
    results += [_delete_topic(topic, times, context) for topic, times in found.items()]
    return DeleteTopicsResponse(responses=results)


def _names_one(state: DeleteTopicState) -> bool:
    """Whether a topic is named by its name or by its id, and not by both."""
    return (state.name is None) != (state.topic_id == ZERO_UUID)


def _find_deletable(result: DeletableTopicResult, context: Context) -> Topic:
    """The topic; who may not delete it is told its name, or that there is one of the name, only if he may describe it."""
    may_delete_all = context.may(Operation.DELETE, ResourceType.CLUSTER)
    if result.name is not None and not may_delete_all:
        context.demand(Operation.DESCRIBE, ResourceType.TOPIC, result.name)
    topic = find_topic(context, None, result.name or "", result.topic_id)
    if not may_delete_all:
        context.demand(Operation.DESCRIBE, ResourceType.TOPIC, topic.name)
        result.name = topic.name
        context.demand(Operation.DELETE, ResourceType.TOPIC, topic.name)
    return topic


def _delete_topic(topic: Topic, times: int, context: Context) -> DeletableTopicResult:
    """A topic that is named both by its name and by its id stays."""
    result = DeletableTopicResult(name=topic.name, topic_id=topic.id)
    if times > 1:
        result.error_code, result.error_message = ErrorCode.INVALID_REQUEST, "The topic is named by its name and by its id."
    else:
        context.cluster.delete_topic(topic)
    return result


@handles(CREATE_PARTITIONS)
def create_partitions(request: CreatePartitionsRequest, context: Context) -> CreatePartitionsResponse:
    """Adds partitions; what a group consumes of them it finds at its next rebalance."""
    named = Counter(topic.name for topic in request.topics)
    results, room = [], MAX_PARTITIONS_PER_REQUEST
    for wanted in {topic.name: topic for topic in request.topics}.values():
        result = CreatePartitionsTopicResult(name=wanted.name)
        try:
            if named[wanted.name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            room -= _add_partitions(wanted, room, request.validate_only, context)
        except KafkaError as error:
            result.error_code, result.error_message = error.code, error.message
        results.append(result)
    return CreatePartitionsResponse(results=results)


def _add_partitions(wanted: CreatePartitionsTopic, room: int, validate_only: bool, context: Context) -> int:
    """Adds partitions, at most `room`, and returns how many. Raises KafkaError."""
    cluster = context.cluster
    topic = find_topic(context, Operation.ALTER, wanted.name)
    assignments = None if wanted.assignments is None else [assignment.broker_ids for assignment in wanted.assignments]
    if wanted.count - len(topic.partitions) > room:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # more records than Kafka's controller writes at once
    placed = cluster.new_partitions(topic, wanted.count, assignments)
    if not validate_only:
        cluster.add_partitions(topic, placed)
    return len(placed)


@handles(DELETE_RECORDS)
def delete_records(request: DeleteRecordsRequest, context: Context) -> DeleteRecordsResponse:
    """Moves log starts forward; -1 stands for the high watermark. Of a partition that is named twice the last counts."""
    topics: dict[str, dict[int, DeleteRecordsPartition]] = {}
    for topic in request.topics:
        for wanted in topic.partitions:
            topics.setdefault(topic.name, {})[wanted.partition_index] = wanted
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(name=name, partitions=[_delete(name, wanted, context) for wanted in partitions.values()])
            for name, partitions in topics.items()
        ]
    )


def _delete(name: str, wanted: DeleteRecordsPartition, context: Context) -> DeleteRecordsPartitionResult:
    try:
        topic = find_topic(context, Operation.DELETE, name)
        partition = find_led_partition(context.broker, topic, wanted.partition_index)
        if topic.is_internal:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        if "delete" not in topic.config.lists["cleanup.policy"]:
            raise KafkaError(ErrorCode.POLICY_VIOLATION)
        offset = partition.high_watermark if wanted.offset == HIGH_WATERMARK else wanted.offset
        if not 0 <= offset <= partition.high_watermark:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    except KafkaError as error:
        return DeleteRecordsPartitionResult(partition_index=wanted.partition_index, low_watermark=-1, error_code=error.code)
    partition.delete_before(offset)
    context.cluster.wake(partition)
    return DeleteRecordsPartitionResult(partition_index=partition.index, low_watermark=partition.log.start_offset)
