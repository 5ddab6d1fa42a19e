"""The state of topics and their partitions: replicas, leaders, logs and producers. The log and the written state share segments."""

from __future__ import annotations

from collections.abc import Mapping

from ...storage.epochs import LeaderEpochs
from ...storage.log import Log
from ...storage.producer_state import CachedBatch, ProducerState
from ...storage.producers import Producers, Refused
from ...storage.retention import UntimedAppends
from ...storage.transaction_index import EndedTransaction, TransactionIndex
from ...storage.virtual_segments import VirtualSegments
from ..settings.values import BrokerConfig, TopicConfig
from ..topics.partition import Partition, ThrottledCopy, Topic
from ..topics.replication import Hold
from ..topics.topics import Topics
from .forms import MOMENT, PLAIN, Form, Plain, Record, Within, listed, mapped, named, optional

EPOCHS = Record(LeaderEpochs, {"latest": PLAIN, "_epochs": listed(), "_starts": listed()})

LOG = Record(
    Log,
    {"start_offset": PLAIN, "end_offset": PLAIN, "_epochs": Within(EPOCHS), "_segments": listed()},
    # A restored log begins with a new arena, because the log that wrote the state may have gone on writing to the old one.
    apart=("memory", "_blocks", "_arena", "_limit", "_used", "_view"),
    prepare=Log.seal,
    complete=lambda log: log.adopt(log._segments),
)

PRODUCER_STATE = Record(
    ProducerState,
    {
        "batches": listed(named(CachedBatch)),
        "coordinator_epoch": PLAIN,
        "epoch": PLAIN,
        "marker_offset": PLAIN,
        "next_sequence": PLAIN,
        "timestamp": PLAIN,  # of a record, which stays
        "used_ms": MOMENT,
    },
)

TRANSACTION_INDEX = Record(TransactionIndex, {"open": mapped(PLAIN, PLAIN), "_ended": listed(named(EndedTransaction))})


def _share_open_transactions(producers: Producers) -> None:
    producers.open = producers._transactions.open


PRODUCERS = Record(
    Producers,
    {
        "expiration_ms": PLAIN,
        "_states": mapped(PLAIN, PRODUCER_STATE),
        "_transactions": TRANSACTION_INDEX,
        "_refused": mapped(PLAIN, named(Refused, refused_ms=MOMENT)),
    },
    apart=("open",),
    complete=_share_open_transactions,
)

VIRTUAL_SEGMENTS = Record(VirtualSegments, {"_starts": listed(), "_next_offset": PLAIN, "_size": PLAIN, "_first_timestamp": PLAIN})

UNTIMED_APPENDS = Record(UntimedAppends, {"_offsets": listed(), "_times_ms": listed(MOMENT)})


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

OVERRIDES = Form(lambda config: [list(item) for item in config.overrides.items()], lambda plain, _: dict(plain))
"""The settings of a topic or a group that differ from those of the broker."""

TOPIC = Record(
    Topic,
    {"name": PLAIN, "id": PLAIN, "config": OVERRIDES, "partitions": listed(PARTITION)},
    apart=("new_log", "silent_nodes", "descriptions", "on_leader_change", "on_change"),
)


def read_topic(plain: Mapping[str, Plain], topics: Topics, config: BrokerConfig, shift_ms: int) -> Topic:
    """Returns a new topic with a state that `TOPIC` wrote. `config` contains the settings that the topic inherits."""
    topic = topics.new(plain["name"], plain["id"], TopicConfig(config, OVERRIDES.read(plain["config"], shift_ms)))
    for index, written in enumerate(plain["partitions"]):
        partition = Partition(topic, index, (), ())
        PARTITION.fill(partition, written, shift_ms)
        topic.partitions.append(partition)
    return topic
