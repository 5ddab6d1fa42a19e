"""CreateTopics, DeleteTopics and CreatePartitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from functools import partial

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
from ...protocol.messages.delete_topics import (
    DELETE_TOPICS,
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from ...protocol.schema import ZERO_UUID, EncodedItems
from ..api.context import Context, find_topic
from ..api.registry import handles
from ..scheduling.slices import Slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..settings.values import ConfigEntry, TopicConfig
from ..topics.names import CLUSTER_METADATA
from ..topics.partition import Topic
from ..topics.placement import MAX_PARTITIONS_PER_REQUEST, TOO_MANY_PARTITIONS

CREATION_WEIGHT = 14
"""How many partitions take as long to describe as a topic without partitions to create."""
MAX_KEPT_CONFIGS = 16
DESCRIBED_SINCE = 5
"""The first version of CreateTopics whose response describes the topics (KIP-525)."""
STRICT_CREATION_SINCE, STRICT_DELETION_SINCE, STRICT_PARTITIONS_SINCE = 6, 5, 3
"""The first versions of CreateTopics, DeleteTopics and CreatePartitions whose clients understand THROTTLING_QUOTA_EXCEEDED (KIP-599)."""


@handles(CREATE_TOPICS)
def create_topics(request: CreateTopicsRequest, context: Context) -> Generator[Wait, None, CreateTopicsResponse]:
    """Creates each topic independently of the others. The results are in the order of the request."""
    context.demand_controller()
    describe = partial(_describe, context=context) if context.version >= DESCRIBED_SINCE else identify
    return (yield from create(request, context, describe, strict=context.version >= STRICT_CREATION_SINCE))


def create(
    request: CreateTopicsRequest, context: Context, describe: Callable[[Topic], CreatableTopicResult], *, strict: bool
) -> Generator[Wait, None, CreateTopicsResponse]:
    """Answers CreateTopics, also for requests that a broker sends for its client.

    `describe` returns the result for a created topic, and `strict` is whether quotas may refuse topics.
    """
    occurrences = Counter(topic.name for topic in request.topics)
    requested = _number_of_partitions(request.topics, context.cluster.config.integers["num.partitions"])
    may_create_all = context.may(Operation.CREATE, ResourceType.CLUSTER)
    results, slices = [], Slices()
    for wanted in {topic.name: topic for topic in request.topics}.values():
        try:
            if occurrences[wanted.name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            if wanted.name == CLUSTER_METADATA:
                raise KafkaError(ErrorCode.INVALID_REQUEST, f"Creation of internal topic {wanted.name} is prohibited.")
            if not (may_create_all or context.may(Operation.CREATE, ResourceType.TOPIC, wanted.name)):
                raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
            if requested > MAX_PARTITIONS_PER_REQUEST:
                raise KafkaError(ErrorCode.POLICY_VIOLATION, TOO_MANY_PARTITIONS)
            topic = yield from _create(wanted, request.validate_only, slices, context, strict)
            results.append(describe(topic))
            slices.add(CREATION_WEIGHT)
        except KafkaError as error:
            results.append(CreatableTopicResult(name=wanted.name, error_code=error.code, error_message=error.message, configs=[]))
        if slices.full(2):
            yield NEXT_TURN
    return CreateTopicsResponse(topics=results)


def _number_of_partitions(topics: Iterable[CreatableTopic], default: int) -> int:
    return sum(len(topic.assignments) or (default if topic.num_partitions == -1 else topic.num_partitions) for topic in topics)


def _create(wanted: CreatableTopic, validate_only: bool, slices: Slices, context: Context, strict: bool) -> Generator[Wait, None, Topic]:
    assignments = _manual_assignments(wanted) if wanted.assignments else None
    configs = {config.name: config.value for config in wanted.configs}
    create_topic = partial(
        context.cluster.topics.create_in_slices,
        wanted.name,
        wanted.num_partitions,
        wanted.replication_factor,
        assignments,
        configs,
        slices=slices,
    )
    if context.quotas is not None:  # Kafka counts the partitions of a topic that it could create, also if it only validates the request
        possible = yield from create_topic(validate_only=True)
        context.quotas.mutate(len(possible.partitions), strict=strict)
    return (yield from create_topic(validate_only=validate_only))


def _manual_assignments(wanted: CreatableTopic) -> list[list[int]]:
    """Returns the lists of replicas by partition.

    Raises KafkaError with INVALID_REQUEST if the number of partitions or replicas is also set, and with INVALID_REPLICA_ASSIGNMENT for
    duplicate or missing partitions.
    """
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
    return [by_index[index] for index in range(len(by_index))]


def identify(topic: Topic) -> CreatableTopicResult:
    """Returns the result for a created topic without its settings."""
    return CreatableTopicResult(name=topic.name, topic_id=topic.id, error_message=None, configs=[])


def _describe(topic: Topic, context: Context) -> CreatableTopicResult:
    if not context.may(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name):
        denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return CreatableTopicResult(name=topic.name, topic_id=topic.id, error_message=None, topic_config_error_code=denied, configs=[])
    return CreatableTopicResult(
        name=topic.name,
        topic_id=topic.id,
        error_message=None,
        num_partitions=len(topic.partitions),
        replication_factor=len(topic.partitions[0].replicas),
        configs=_encoded_configs(topic.config, context.version),
    )


class _EncodedConfigs(dict[tuple[object, ...], EncodedItems[CreatableTopicConfigs]]):
    """The encoded settings of topics by version and overrides, because one request may create thousands of topics with the same ones."""


def _encoded_configs(config: TopicConfig, version: int) -> EncodedItems[CreatableTopicConfigs]:
    """Returns the settings of a topic, which are kept until a value of the broker changes."""
    kept: _EncodedConfigs = config.broker.derived.setdefault(_EncodedConfigs, _EncodedConfigs())
    key = (version, *config.overrides.items())
    if key not in kept:
        if len(kept) >= MAX_KEPT_CONFIGS:
            kept.clear()
        entries, encode = config.describe(), CreatableTopicConfigs.encoders[version]
        kept[key] = EncodedItems(len(entries), [b"".join(encode(_entry(each, config), bytearray(), []) for each in entries)])
    return kept[key]


def _entry(entry: ConfigEntry, config: TopicConfig) -> CreatableTopicConfigs:
    return CreatableTopicConfigs(
        name=entry.name,
        value=config.overrides.get(entry.name, entry.value),
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=entry.is_sensitive,
    )


@handles(DELETE_TOPICS)
def delete_topics(request: DeleteTopicsRequest, context: Context) -> Generator[Wait, None, DeleteTopicsResponse]:
    """Deletes topics by name or, from version 6 on, by id. Failures come first in the response, as in Kafka."""
    context.demand_controller()
    if not context.broker.config.booleans["delete.topic.enable"]:
        raise KafkaError(ErrorCode.TOPIC_DELETION_DISABLED if context.version >= 3 else ErrorCode.INVALID_REQUEST)
    wanted = request.topics or [DeleteTopicState(name=name, topic_id=ZERO_UUID) for name in request.topic_names]
    occurrences = Counter((state.name, state.topic_id) for state in wanted)
    invalid = [state for state in wanted if not _identifies_topic(state)]
    valid = {(state.name, state.topic_id): state for state in wanted if _identifies_topic(state)}
    found, results, slices = Counter[Topic](), [], Slices()
    for state in (*invalid, *valid.values()):
        result = DeletableTopicResult(name=state.name, topic_id=state.topic_id)
        try:
            if occurrences[state.name, state.topic_id] > 1 or not _identifies_topic(state):
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Either a name or an id is needed, not both, and only once.")
            found[_find_deletable(result, context)] += 1
        except KafkaError as error:
            # The text of an authorization error contains the name of the topic, which must not be revealed to a client that sent its id.
            message = None if error.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED else error.message
            result.error_code, result.error_message = error.code, message or error.code.name
            results.append(result)
        if slices.full(3):
            yield NEXT_TURN
    for topic, times in found.items():
        partitions = len(topic.partitions)
        results.append((yield from _delete_topic(topic, times, slices, context)))
        if slices.full(40 + 8 * partitions):
            yield NEXT_TURN
    return DeleteTopicsResponse(responses=results)


def _identifies_topic(state: DeleteTopicState) -> bool:
    """Returns whether the request contains either a name or an id for a topic, but not both."""
    return (state.name is None) != (state.topic_id == ZERO_UUID)


def _find_deletable(result: DeletableTopicResult, context: Context) -> Topic:
    """Returns the topic, and sets `result.name`.

    Raises KafkaError if the topic does not exist or the client may not delete it. The name of an id, and the
    existence of a name, are revealed only to clients that may describe the topic.
    """
    may_delete_all = context.may(Operation.DELETE, ResourceType.CLUSTER)
    if result.name is not None and not may_delete_all:
        context.demand(Operation.DESCRIBE, ResourceType.TOPIC, result.name)
    topic = find_topic(context, None, result.name or "", result.topic_id)
    if not may_delete_all:
        context.demand(Operation.DESCRIBE, ResourceType.TOPIC, topic.name)
        result.name = topic.name
        context.demand(Operation.DELETE, ResourceType.TOPIC, topic.name)
    return topic


def _delete_topic(topic: Topic, times: int, slices: Slices, context: Context) -> Generator[Wait, None, DeletableTopicResult]:
    """Deletes a topic, or returns INVALID_REQUEST if the request contains it both by name and by id."""
    result = DeletableTopicResult(name=topic.name, topic_id=topic.id)
    if times > 1:
        result.error_code, result.error_message = ErrorCode.INVALID_REQUEST, "The topic is named by its name and by its id."
        return result
    if context.quotas is not None:
        try:
            context.quotas.mutate(len(topic.partitions), strict=context.version >= STRICT_DELETION_SINCE)
        except KafkaError as error:
            result.error_code, result.error_message = error.code, error.message
            return result
    groups = context.cluster.groups_in_use
    for _ in () if groups is None else groups.offsets.forget_topic(topic.name):  # groups that commit in between lose their offsets below
        if slices.full(4):
            yield NEXT_TURN
    if context.cluster.topics_by_id.get(topic.id) is topic:
        context.cluster.delete_topic(topic)
    else:  # another request was faster
        result.error_code, result.error_message = ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_ID.name
    return result


@handles(CREATE_PARTITIONS)
def create_partitions(request: CreatePartitionsRequest, context: Context) -> Generator[Wait, None, CreatePartitionsResponse]:
    """Adds partitions to each topic independently of the others."""
    context.demand_controller()
    occurrences = Counter(topic.name for topic in request.topics)
    results, room, slices = [], MAX_PARTITIONS_PER_REQUEST, Slices()
    for wanted in {topic.name: topic for topic in request.topics}.values():
        result = CreatePartitionsTopicResult(name=wanted.name)
        try:
            if occurrences[wanted.name] > 1:
                raise KafkaError(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            room -= yield from _add_partitions(wanted, room, request.validate_only, slices, context)
        except KafkaError as error:
            result.error_code, result.error_message = error.code, error.message
        results.append(result)
        if slices.full(4):
            yield NEXT_TURN
    return CreatePartitionsResponse(results=results)


def _add_partitions(
    wanted: CreatePartitionsTopic, room: int, validate_only: bool, slices: Slices, context: Context
) -> Generator[Wait, None, int]:
    """Adds at most `room` partitions and returns their number. Raises KafkaError for a request that Kafka refuses."""
    cluster = context.cluster
    topic = find_topic(context, Operation.ALTER, wanted.name)
    assignments = None if wanted.assignments is None else [assignment.broker_ids for assignment in wanted.assignments]
    if wanted.count - len(topic.partitions) > room:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # Kafka fails here, because its controller does not write so many records at once
    cluster.topics.place_partitions(topic, wanted.count, assignments)
    added = wanted.count - len(topic.partitions)
    if context.quotas is not None:
        context.quotas.mutate(added, strict=context.version >= STRICT_PARTITIONS_SINCE)
    if not validate_only:
        yield from cluster.topics.add_partitions_in_slices(topic, wanted.count, assignments, slices)
    return added
