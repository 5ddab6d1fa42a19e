"""All checks, in the order in which their findings are listed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..exchange import Entry
from .addresses import unreachable_addresses
from .commits import commits_per_record, consumers_that_never_commit
from .connections import connections_per_message, reconnect_loops
from .denials import denials
from .duplicates import duplicates
from .fetches import hasty_fetches, tiny_fetches
from .finding import Check, Finding
from .group_clashes import groups_with_other_topics, inconsistent_protocols, repeated_instance_ids
from .groups import rebalance_storms, short_time_outs
from .handshakes import failed_handshakes
from .history import History
from .idle import idle_closes
from .losses import losses_without_acks
from .metadata_storms import metadata_storms
from .oversize import oversize_batches, oversize_requests
from .unknown_topics import misspelt_topics, unknown_topics
from .unread_records import expired_records, skipped_records

CHECKS: Sequence[Check] = (
    losses_without_acks,
    duplicates,
    oversize_batches,
    oversize_requests,
    failed_handshakes,
    denials,
    unknown_topics,
    misspelt_topics,
    skipped_records,
    expired_records,
    unreachable_addresses,
    reconnect_loops,
    connections_per_message,
    idle_closes,
    metadata_storms,
    tiny_fetches,
    hasty_fetches,
    short_time_outs,
    rebalance_storms,
    groups_with_other_topics,
    inconsistent_protocols,
    repeated_instance_ids,
    commits_per_record,
    consumers_that_never_commit,
)


def examine(entries: Iterable[Entry], since: int = 0) -> list[Finding]:
    """Returns the mistakes of clients that the entries from the number `since` on show.

    The entries before these show only what the test has done to the cluster, and what is not the fault of a client.
    """
    history = History(entries, since)
    return [finding for check in CHECKS for finding in check(history)]
