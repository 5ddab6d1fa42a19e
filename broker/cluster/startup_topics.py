"""The topics that are created at startup: parsing them from Python values or KAFKA_CREATE_TOPICS, and checking them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from ..settings.cluster_config import TopicSpec
from ..settings.properties import InvalidConfig, SettingValue, as_text
from ..settings.rows import PRESENT
from ..settings.spelling import nearest
from ..settings.types import SettingRows
from ..settings.validation import validate_topic_configs
from ..topics.placement import MAX_PARTITIONS_PER_REQUEST
from ..topics.topics import illegal_name, metric_name

if TYPE_CHECKING:
    from .state import ClusterState


class TopicOptions(TypedDict, total=False):
    """The options of a topic. The defaults of `partitions` and `replication_factor` are num.partitions and default.replication.factor."""

    partitions: int
    replication_factor: int
    configs: Mapping[str, SettingValue]


def topic_specs_of(topics: Mapping[str, int | TopicOptions]) -> list[TopicSpec]:
    """Returns the topics of a mapping from names to numbers of partitions or to `TopicOptions`.

    Raises TypeError for a wrong type and ValueError for a number below 1 or an unknown option.
    """
    if not isinstance(topics, Mapping):
        raise TypeError(f'topics must be a mapping such as {{"orders": 4}}, not {topics!r}')
    return [_spec(name, wanted) for name, wanted in topics.items()]


def topics_to_create(environ: Mapping[str, str]) -> list[TopicSpec]:
    """Returns the topics in KAFKA_CREATE_TOPICS: name:partitions:replicas[:cleanup.policy], separated by commas or line breaks.

    The format is that of the image wurstmeister/kafka. Raises InvalidConfig if a topic is malformed.
    """
    texts = map(str.strip, re.split(r"[,\n]", environ.get("KAFKA_CREATE_TOPICS", "")))
    return [_parse_topic(text) for text in texts if text]


def _parse_topic(text: str) -> TopicSpec:
    name, partitions, replicas, policy = (*text.split(":", 3), "", "", "")[:4]
    try:
        spec = TopicSpec.parse(":".join(filter(None, (name, partitions, replicas))))
    except InvalidConfig:
        expected = "name:partitions:replicas or name:partitions:replicas:cleanup.policy, such as orders:4:1:compact"
        raise InvalidConfig(f"invalid topic '{text}' in KAFKA_CREATE_TOPICS: write {expected}") from None
    return spec._replace(configs={"cleanup.policy": policy}) if policy else spec


def create_topics(cluster: ClusterState, specs: Sequence[TopicSpec]) -> None:
    """Creates topics, except for those that a loaded state contains."""
    for spec in specs:
        if spec.name not in cluster.topics:
            cluster.topics.create(spec.name, spec.partitions, spec.replication_factor, configs=spec.configs)


def check_topics(specs: Sequence[TopicSpec], nodes: int, rows: SettingRows = PRESENT) -> None:
    """Raises InvalidConfig for names that are illegal, repeated or colliding, and for invalid configs.

    Also refuses more partitions than Kafka creates at once, and more replicas than `nodes` nodes can have.
    """
    _check_names([spec.name for spec in specs])
    for spec in specs:
        if spec.partitions > MAX_PARTITIONS_PER_REQUEST:
            limit = f"at most {MAX_PARTITIONS_PER_REQUEST}, as in one request to Kafka"
            raise InvalidConfig(f"topic {spec.name}: partitions must be {limit}, not {spec.partitions}")
        if spec.replication_factor > nodes:
            raise InvalidConfig(f"topic {spec.name}: replication factor {spec.replication_factor} exceeds the number of nodes ({nodes})")
        _check_configs(spec, rows)


def _check_names(names: Sequence[str]) -> None:
    seen: dict[str, str] = {}
    for name in names:
        if reason := illegal_name(name):
            raise InvalidConfig(f"invalid topic name: {reason}")
        other = seen.setdefault(metric_name(name), name)
        if other != name:
            raise InvalidConfig(f"topics {other} and {name} differ only in '.' and '_', which Kafka does not allow")
    if len(set(names)) < len(names):
        duplicate = next(name for name in names if names.count(name) > 1)
        raise InvalidConfig(f"topic {duplicate} is specified twice")


def _check_configs(spec: TopicSpec, rows: SettingRows) -> None:
    for name in spec.configs:
        if name not in rows.topic and (meant := nearest(name, rows.topic)):
            raise InvalidConfig(f"topic {spec.name}: unknown config {name}; did you mean {meant}?")
    try:
        validate_topic_configs(spec.configs, rows)
    except InvalidConfig as error:
        raise InvalidConfig(f"topic {spec.name}: {error}") from None


def _spec(name: str, wanted: int | TopicOptions) -> TopicSpec:
    if not isinstance(name, str):
        raise TypeError(f"a topic's name must be a str, not {name!r}")
    options = wanted if isinstance(wanted, Mapping) else TopicOptions(partitions=wanted)
    if unknown := [key for key in options if key not in TopicOptions.__annotations__]:
        raise ValueError(f"topic {name}: unknown option {unknown[0]!r}; the options are {', '.join(TopicOptions.__annotations__)}")
    counts = {key: _count(f"topic {name}: {key}", value) for key, value in options.items() if key != "configs"}
    return TopicSpec(name, counts.get("partitions", -1), counts.get("replication_factor", -1), _configs(name, options.get("configs", {})))


def _count(what: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{what} must be an int, not {value!r}")
    if value < 1:
        raise ValueError(f"{what} must be at least 1, not {value}")
    return value


def _configs(name: str, configs: Mapping[str, SettingValue]) -> dict[str, str]:
    if not isinstance(configs, Mapping):
        raise TypeError(f'topic {name}: configs must be a mapping such as {{"cleanup.policy": "compact"}}, not {configs!r}')
    return {key: as_text(key, value) for key, value in configs.items()}
