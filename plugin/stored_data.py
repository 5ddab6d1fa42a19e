"""The data that a test leaves in a cluster, as far as damages need it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..broker.exploring.damage import StoredData

if TYPE_CHECKING:
    from ..broker.controls.group_info import GroupInfo
    from ..broker.controls.stored_records import Record

Partition = tuple[str, int]


def stored_data(
    found: Mapping[Partition, Sequence[Record]], groups: Iterable[GroupInfo], known: StoredData, *, has_certificates: bool = False
) -> StoredData:
    """Returns the data of a cluster, its records by their partitions and its groups, together with that of others."""
    records = {**known.records, **{place: len(each) for place, each in found.items()}}
    aborted = dict(known.aborted)
    for place, each in found.items():
        if numbers := [number for number, record in enumerate(each, 1) if record.transaction == "aborted"]:
            aborted[place] = numbers
    committed = [(group.group_id, each.topic, each.partition) for group in groups for each in group.offsets if each.committed]
    return StoredData(records, aborted, [*known.committed, *committed], has_certificates or known.has_certificates)
