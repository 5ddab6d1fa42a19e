"""The topics of a cluster: they are created, checked, found and removed here, internal ones included.

`Topics` decides what only concerns topics. `cluster/state.py` deletes a topic, because groups, transactions and share states follow.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from ...protocol.errors import ErrorCode, KafkaError
from ...storage.log import Log
from ..plurals import counted
from ..scheduling.slices import Slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..settings.properties import InvalidConfig
from ..settings.validation import validate_topic_configs
from ..settings.values import BrokerConfig, TopicConfig
from .names import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from .partition import Partition, Topic
from .placement import Racks, check_assignments, check_count, check_increase, check_leadable, place_replicas

if TYPE_CHECKING:
    from random import Random

P = ParamSpec("P")
R = TypeVar("R")

log = logging.getLogger("kafka.controller.KafkaController")

MAX_NAME_LENGTH = 249
PARTITION_WEIGHT = 3
"""How many partitions are described in the time in which one is made."""
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")
MIN_SEGMENT_BYTES = 1024 * 1024
"""The lowest value that the topic setting segment.bytes accepts."""
_PREFIXES = {
    CONSUMER_OFFSETS: "offsets.topic",
    TRANSACTION_STATE: "transaction.state.log",
    SHARE_GROUP_STATE: "share.coordinator.state.topic",
}
"""The beginning of the names of the broker settings that configure each internal topic."""


class NodesView(Protocol):
    """The nodes on which partitions are placed."""

    @property
    def running(self) -> Sequence[int]:
        """The ids of the nodes that the controller considers alive, in ascending order."""

    @property
    def silent(self) -> set[int]:
        """The nodes that do not fetch. Topics have a live view of it."""

    @property
    def racks(self) -> Racks:
        """The rack of each node."""


def _in_this_turn(work: Callable[P, Generator[Wait, None, R]]) -> Callable[P, R]:
    """Returns a function that does all slices of some work at once, and returns its result."""

    @wraps(work)
    def run(*arguments: P.args, **options: P.kwargs) -> R:
        slices = work(*arguments, **options)
        while True:
            try:
                next(slices)
            except StopIteration as done:
                return cast(R, done.value)

    return run


class Topics(dict[str, Topic]):
    """The topics by name. `by_id` has them by topic id, and `version` changes whenever a topic or partition is created or deleted.

    `first_leader_epoch` is the one in which new partitions begin, and `newest_leader_epoch` the highest one of any partition so far.
    `new_log` makes the log of a partition. `count_records` is called with the number of records that the controller would write for a
    change.
    """

    def __init__(
        self,
        config: BrokerConfig,
        random: Random,
        nodes: NodesView,
        new_log: Callable[[], Log],
        count_records: Callable[[int], None],
    ) -> None:
        self._config = config
        self._random = random
        self._nodes = nodes
        self._new_log = new_log
        self._count_records = count_records
        self.by_id: dict[bytes, Topic] = {}
        self._by_metric_name: dict[str, str] = {}
        """The names in use. Kafka refuses two topics with the same name in metrics, because their metrics would overwrite each other."""
        self.version = 0
        self.first_leader_epoch = self.newest_leader_epoch = 0
        self.on_addition: Callable[[Topic], None] = lambda _: None
        """Called with each topic that was added."""
        self.on_leader_change: Callable[[Partition], None] = lambda _: None
        """Called with each partition whose leader has changed."""
        self.on_change: Callable[[Topic], None] = lambda _: None
        """Called with each topic after its addition, its removal, and each change of what describes it."""

    # Finding

    def partitions(self) -> Iterator[Partition]:
        """Returns an iterator over the partitions of all topics."""
        return (partition for topic in self.values() for partition in topic.partitions)

    def name_of(self, topic_id: bytes) -> str:
        """Returns the name of the topic with this id, "" if there is none."""
        topic = self.by_id.get(topic_id)
        return topic.name if topic else ""

    def find_partition(self, topic_name: str, index: int) -> Partition | None:
        """Returns a partition, None if it does not exist."""
        topic = self.get(topic_name)
        return topic.partition(index) if topic else None

    # Creating

    def create_in_slices(
        self,
        name: str,
        partitions: int = -1,
        replication_factor: int = -1,
        assignments: Sequence[Sequence[int]] | None = None,
        configs: Mapping[str, str | None] | None = None,
        *,
        validate_only: bool = False,
        slices: Slices | None = None,
    ) -> Generator[Wait, None, Topic]:
        """Creates and returns a topic, which can be found when all partitions have been made.

        With `validate_only` it is returned but not added to the cluster. -1 stands for the broker's default. Raises KafkaError with the
        code and text of CreateTopics.
        """
        slices = slices or Slices()
        made = None
        while made is None:
            self._check_name(name)
            topic = self.new(name, self._random.randbytes(16), self._topic_config(configs or {}))
            if assignments:
                check_assignments(assignments, self._nodes.racks)
                check_leadable(assignments, self._nodes.running)
            placed = assignments or self._place(partitions, replication_factor)
            made = yield from self._make_partitions(topic, placed, slices)
        self._check_name(name)  # another request may have created it meanwhile
        topic.add_partitions(made)
        if not validate_only:
            self.add(topic)
            self.version += 1
            self._count_records(1 + len(topic.config.overrides) + len(topic.partitions))
            log.info("created topic %s with %s", name, counted(len(topic.partitions), "partition"))
        return topic

    create = _in_this_turn(create_in_slices)
    """Creates and returns a topic in this turn, as `create_in_slices` does."""

    def new(self, name: str, topic_id: bytes, config: TopicConfig) -> Topic:
        """Returns a topic without partitions that is not added yet."""
        return Topic(name, topic_id, config, self._new_log, self._nodes.silent)

    def add(self, topic: Topic) -> None:
        """Adds a topic that `new` has returned."""
        self[topic.name] = self.by_id[topic.id] = topic
        topic.on_leader_change = self._leader_changed
        self._by_metric_name[metric_name(topic.name)] = topic.name
        topic.on_change = self.on_change
        self.on_addition(topic)
        topic.on_change(topic)

    def remove(self, topic: Topic) -> None:
        """Removes a topic, and releases its name."""
        del self[topic.name], self.by_id[topic.id], self._by_metric_name[metric_name(topic.name)]
        self.version += 1
        self._count_records(1)
        topic.on_change(topic)

    def ensure_internal(self, name: str) -> bool:
        """Creates the internal topic `name` if it does not exist and a node is running. Returns False if the name is not internal.

        Kafka creates an internal topic when a client first requests the topic or a coordinator.
        """
        options = internal_topic(name, self._config)
        if options is None:
            return False
        if name not in self and self._nodes.running:
            self.create(name, options.partitions, options.replication_factor, configs=options.configs)
        return True

    def _check_name(self, name: str) -> None:
        """Raises KafkaError if the name is in use or illegal, or its name in metrics is in use."""
        if name in self:
            raise KafkaError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        if reason := illegal_name(name):
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
        if other := self._by_metric_name.get(metric_name(name)):
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {other}")

    def _topic_config(self, configs: Mapping[str, str | None]) -> TopicConfig:
        try:
            validate_topic_configs(configs, self._config.rows)
        except InvalidConfig as error:
            raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from None
        return TopicConfig(self._config, {name: text for name, text in configs.items() if text is not None})

    # Partitions

    def _make_partitions(
        self, topic: Topic, placed: Iterable[Sequence[int]], slices: Slices
    ) -> Generator[Wait, None, list[Partition] | None]:
        """Returns one new partition for each list of replicas, which the topic does not have yet. Replicas on running nodes are in sync.

        Returns None if something that new partitions depend on changes between two slices. They then have to be made again.
        """
        running, made = self._nodes.running, list[Partition]()
        for index, replicas in enumerate(placed, len(topic.partitions)):
            isr = [node for node in replicas if node in running]
            made.append(Partition(topic, index, replicas, isr, self.first_leader_epoch))
            if slices.full(PARTITION_WEIGHT):
                before = self._surroundings(topic)
                yield NEXT_TURN
                if before != self._surroundings(topic):
                    return None
        return made

    def _surroundings(self, topic: Topic) -> object:
        """Returns the values on which new partitions of a topic depend."""
        nodes, config = self._nodes, self._config
        placing = nodes.running, dict(nodes.racks), set(nodes.silent), self.first_leader_epoch
        return placing, config.own, config.cluster_wide, topic.config.overrides, len(topic.partitions)

    def _place(self, partitions: int, replication_factor: int) -> Iterator[list[int]]:
        if partitions == -1:
            partitions = self._config.integers["num.partitions"]
        if replication_factor == -1:
            replication_factor = self._config.integers["default.replication.factor"]
        return place_replicas(self._nodes.racks, self._nodes.running, partitions, replication_factor, self._random)

    def place_partitions(self, topic: Topic, count: int, assignments: Sequence[Sequence[int]] | None) -> Iterator[Sequence[int]]:
        """Returns the lists of replicas of the partitions that `count` partitions require: the checked `assignments`, if given.

        Raises KafkaError with the code and text of CreatePartitions.
        """
        present, replicas = len(topic.partitions), topic.partitions[0].replicas
        check_increase(topic.name, present, count)
        if assignments is None:
            return self._place(count - present, len(replicas))
        check_count(assignments, count - present)
        check_assignments([replicas, *assignments], self._nodes.racks)
        check_leadable(assignments, self._nodes.running, present)
        return iter(assignments)

    def add_partitions(self, topic: Topic, assignments: Iterable[Sequence[int]]) -> None:
        """Adds one partition for each list of replicas, in this turn."""
        made = _in_this_turn(self._make_partitions)(topic, assignments, Slices())
        self._add_partitions(topic, made or [])

    def add_partitions_in_slices(
        self, topic: Topic, count: int, assignments: Sequence[Sequence[int]] | None, slices: Slices
    ) -> Generator[Wait, None, None]:
        """Adds partitions until there are `count`, all in the last of several slices. Raises KafkaError as `place_partitions` does."""
        made = None
        while made is None:
            if self.by_id.get(topic.id) is not topic:  # it was deleted meanwhile
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            made = yield from self._make_partitions(topic, self.place_partitions(topic, count, assignments), slices)
        self._add_partitions(topic, made)

    def _add_partitions(self, topic: Topic, made: Sequence[Partition]) -> None:
        topic.add_partitions(made)
        self.version += 1
        self._count_records(len(made))

    # Leader epochs

    def begin_leader_epoch(self, epoch: int) -> None:
        """Begins a leader epoch in all partitions, and in those that will be created, because the state was restored."""
        self.first_leader_epoch = self.newest_leader_epoch = epoch
        for partition in self.partitions():
            partition.begin_epoch(epoch)

    def _leader_changed(self, partition: Partition) -> None:
        self.newest_leader_epoch = max(self.newest_leader_epoch, partition.leader_epoch)
        self.on_leader_change(partition)


def illegal_name(name: str) -> str | None:
    """Returns the reason why a topic cannot have this name, in the words of Kafka's `Topic.validate`; None for a legal name."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > MAX_NAME_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    if not _LEGAL_NAME.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def metric_name(name: str) -> str:
    """Returns the name of a topic in Kafka's metrics, where '.' becomes '_'."""
    return name.replace(".", "_")


class InternalTopic(NamedTuple):
    """The options of an internal topic when it is created."""

    partitions: int
    replication_factor: int
    configs: Mapping[str, str | None]


def internal_topic(name: str, config: BrokerConfig) -> InternalTopic | None:
    """Returns the options of an internal topic according to the broker settings; None for any other name."""
    prefix = _PREFIXES.get(name)
    if prefix is None:
        return None
    integers = config.integers
    segment_bytes = integers[f"{prefix}.segment.bytes"]
    # The broker settings allow smaller values than segment.bytes. Such a value is set as internal.segment.bytes, which has no lower bound.
    setting = "segment.bytes" if segment_bytes >= MIN_SEGMENT_BYTES else "internal.segment.bytes"
    configs = {"cleanup.policy": "compact", "compression.type": "producer", setting: str(segment_bytes)}
    if name == SHARE_GROUP_STATE:  # the share coordinator deletes what it no longer needs
        configs |= {"cleanup.policy": "delete", "retention.ms": "-1", "min.insync.replicas": str(integers[f"{prefix}.min.isr"])}
    return InternalTopic(integers[f"{prefix}.num.partitions"], integers[f"{prefix}.replication.factor"], configs)
