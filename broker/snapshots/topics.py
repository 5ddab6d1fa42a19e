"""The state of topics and their partitions, with replicas and leaders."""

from __future__ import annotations

from collections.abc import Mapping

from ..settings.values import BrokerConfig, TopicConfig
from ..topics.partition import Partition, ThrottledCopy, Topic
from ..topics.replication import Hold
from ..topics.topics import Topics
from .forms import MOMENT, PLAIN, Form, Plain, Record, Within, listed, mapped, named, optional
from .logs import LOG, PRODUCERS, UNTIMED_APPENDS, VIRTUAL_SEGMENTS

PARTITION = Record(
    Partition,
    {
        "index": PLAIN,
        "replicas": listed(),
        "isr": listed(),
        "adding": listed(),
        "removing": listed(),
        "elr": listed(),
        "last_known_elr": listed(),
        "lagging": mapped(PLAIN, PLAIN),
        "leader": PLAIN,
        "leader_epoch": PLAIN,
        "held": mapped(PLAIN, named(Hold)),
        "held_offset": PLAIN,
        "lag_marks": mapped(PLAIN, listed()),
        "log": Within(LOG),
        "producers": PRODUCERS,
        "untimed": UNTIMED_APPENDS,
        "virtual_segments": VIRTUAL_SEGMENTS,
        "cleaned_until": PLAIN,
        "copy": optional(named(ThrottledCopy, start_ms=MOMENT, end_ms=MOMENT)),
        "settled_end": PLAIN,
    },
    apart=("topic", "deletion_due", "compaction_due"),
)

OVERRIDES = Form(lambda config: [list(item) for item in config.overrides.items()], lambda plain, shift_ms: dict(plain))
"""The settings of a topic or a group that differ from those of the broker."""

TOPIC = Record(
    Topic,
    {"name": PLAIN, "id": PLAIN, "config": OVERRIDES, "partitions": listed(PARTITION)},
    apart=("memory", "silent_nodes", "blocks", "descriptions", "on_leader_change"),
)


def read_topic(plain: Mapping[str, Plain], topics: Topics, config: BrokerConfig, shift_ms: int) -> Topic:
    """Returns a new topic with a state that `TOPIC` wrote. `config` contains the settings that the topic inherits."""
    topic = topics.new(plain["name"], plain["id"], TopicConfig(config, OVERRIDES.read(plain["config"], shift_ms)))
    for index, written in enumerate(plain["partitions"]):
        partition = Partition(topic, index, (), ())
        PARTITION.fill(partition, written, shift_ms)
        topic.partitions.append(partition)
    return topic
