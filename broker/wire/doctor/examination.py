"""All checks, in the order in which their findings are listed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..exchange import Entry
from .addresses import unreachable_addresses
from .commits import commits_per_record, consumers_that_never_commit
from .connections import connections_per_message, reconnect_loops
from .duplicates import duplicates
from .fetches import hasty_fetches, tiny_fetches
from .finding import Check, Finding
from .groups import rebalance_storms, short_time_outs
from .history import History
from .idle import idle_closes
from .losses import losses_without_acks
from .metadata_storms import metadata_storms
from .oversize import oversize_batches, oversize_requests

CHECKS: Sequence[Check] = (
    losses_without_acks,
    duplicates,
    oversize_batches,
    oversize_requests,
    unreachable_addresses,
    reconnect_loops,
    connections_per_message,
    idle_closes,
    metadata_storms,
    tiny_fetches,
    hasty_fetches,
    short_time_outs,
    rebalance_storms,
    commits_per_record,
    consumers_that_never_commit,
)


def examine(entries: Iterable[Entry]) -> list[Finding]:
    """Returns the mistakes of clients that the entries show."""
    history = History(entries)
    return [finding for check in CHECKS for finding in check(history)]
