"""The state of one partition's log and of its producers. Segments are shared between the log and the written state."""

from __future__ import annotations

from ...storage.epochs import LeaderEpochs
from ...storage.log import Log
from ...storage.producer_state import CachedBatch, ProducerState
from ...storage.producers import Producers, Refused
from ...storage.retention import UntimedAppends
from ...storage.transaction_index import EndedTransaction, TransactionIndex
from ...storage.virtual_segments import VirtualSegments
from .forms import MOMENT, PLAIN, Record, Within, listed, mapped, named

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
    producers._open = producers._transactions.open


PRODUCERS = Record(
    Producers,
    {
        "expiration_ms": PLAIN,
        "_states": mapped(PLAIN, PRODUCER_STATE),
        "_transactions": TRANSACTION_INDEX,
        "_refused": mapped(PLAIN, named(Refused, refused_ms=MOMENT)),
    },
    apart=("_open",),
    complete=_share_open_transactions,
)

VIRTUAL_SEGMENTS = Record(VirtualSegments, {"_starts": listed(), "_next_offset": PLAIN, "_size": PLAIN, "_first_timestamp": PLAIN})

UNTIMED_APPENDS = Record(UntimedAppends, {"_offsets": listed(), "_times_ms": listed(MOMENT)})
