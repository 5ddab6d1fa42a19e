"""All checks, in the order in which their findings are listed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..exchange import Entry
from .connections import connections_per_message, idle_closes, reconnect_loops, unreachable_addresses
from .consumers import commits_per_record, consumers_that_never_commit, expired_records, hasty_fetches, skipped_records, tiny_fetches
from .finding import Check, Finding
from .groups import groups_with_other_topics, inconsistent_protocols, rebalance_storms, repeated_instance_ids, short_time_outs
from .history import WireHistory
from .producers import duplicates, losses_without_acks, oversize_batches, oversize_requests
from .schemas import automatic_registrations, incompatible_schemas, records_without_ids, unfit_subject_names, unknown_schema_ids
from .security import denials, failed_handshakes
from .topics import metadata_storms, misspelt_topics, unknown_topics

CHECKS: Sequence[Check] = (
    losses_without_acks,
    duplicates,
    oversize_batches,
    oversize_requests,
    failed_handshakes,
    denials,
    unknown_topics,
    misspelt_topics,
    incompatible_schemas,
    unknown_schema_ids,
    records_without_ids,
    unfit_subject_names,
    automatic_registrations,
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
    history = WireHistory(entries, since)
    return [finding for check in CHECKS for finding in check(history)]
