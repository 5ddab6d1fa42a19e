"""Damage: changes of the data behind a service's back, under which its test must fail. They test the test.

No correct Kafka produces these histories, and reports say so. A specification such as "orders-0#2:gone" names a partition, the n-th of its
records, and the damage; "billing@orders-0:offset-back" a group and a partition. The damage is done at the first request after the target
exists, or before its response is written if the request has created it, so that no client sees the data without the damage.

"certificate:forged" is damage of another kind: somebody else answers, whose certificate is signed by a CA that clients do not trust.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ...protocol.batches.record_builder import build_batch, rewrite_batch
from ...protocol.batches.records import Record, RecordBatch
from ...protocol.frame import Buffer
from ...protocol.schema import Message
from ..api.gate import Answering, Asked
from ..cluster.broker import Broker
from ..cluster.state import ClusterState
from ..control_errors import InvalidControl
from ..faults.acts import Act, Serve
from ..faults.elements import Elements
from ..faults.fault import CONNECTION, Criteria, Fault, Mismatch
from ..faults.options import Exchange, FaultOptions
from ..faults.table import Faults
from ..plurals import ordinal
from ..topics.partition import Partition

GONE, TWICE, SWAPPED, OFFSET_BACK, ABORTED_VISIBLE = "gone", "twice", "swapped", "offset-back", "aborted-visible"
FORGED = "forged"
DAMAGES = GONE, TWICE, SWAPPED, OFFSET_BACK, ABORTED_VISIBLE, FORGED
FORGED_CERTIFICATE = "certificate:forged"
FORM = f"TOPIC-PARTITION#NUMBER:gone, :twice, :swapped or :aborted-visible, GROUP@TOPIC-PARTITION:offset-back, or {FORGED_CERTIFICATE}"
_OF_RECORD = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)#(?P<number>[1-9]\d*):(?P<kind>gone|twice|swapped|aborted-visible)")
_OF_GROUP = re.compile(r"(?P<group>.+)@(?P<topic>.+)-(?P<partition>\d+):offset-back")
_CHANGING = frozenset(("Produce", "OffsetCommit", "TxnOffsetCommit", "EndTxn"))
"""The APIs whose requests may create the target of a damage."""


class DamageOrder(NamedTuple):
    """A damage: its kind, the partition, and the n-th record or the group. A forged certificate has only a kind."""

    kind: str
    topic: str = ""
    partition: int = 0
    number: int = 0
    group: str = ""

    def __str__(self) -> str:
        if self.kind == FORGED:
            return FORGED_CERTIFICATE
        place = f"{self.topic}-{self.partition}"
        return f"{self.group}@{place}:{self.kind}" if self.kind == OFFSET_BACK else f"{place}#{self.number}:{self.kind}"

    @property
    def words(self) -> str:
        """The damage as the end of "no test noticed that ..."."""
        place = f"{self.topic}-{self.partition}"
        which = f"the {ordinal(self.number)} record of {place}"
        return {
            GONE: f"{which} was gone",
            TWICE: f"{which} was there twice",
            SWAPPED: f"{which} and the next one were swapped",
            OFFSET_BACK: f'the offset that group "{self.group}" has committed for {place} went back by one',
            ABORTED_VISIBLE: f"{which}, which was aborted, was visible",
            FORGED: "the certificate of the cluster was signed by a CA that clients do not trust",
        }[self.kind]


def parse_damage(text: str) -> DamageOrder:
    """Returns the damage that a text specifies. Raises InvalidControl if it is not in the form."""
    if found := _OF_RECORD.fullmatch(text):
        return DamageOrder(found["kind"], found["topic"], int(found["partition"]), int(found["number"]))
    if found := _OF_GROUP.fullmatch(text):
        return DamageOrder(OFFSET_BACK, found["topic"], int(found["partition"]), group=found["group"])
    if text == FORGED_CERTIFICATE:
        return DamageOrder(FORGED)
    raise InvalidControl("damage", f"must have the form {FORM}, not {text!r}")


class DoDamage(Act):
    """Does the damage when a request has been served that may have created its target."""

    strikes_later = True

    def __init__(self, order: DamageOrder) -> None:
        self._order = order

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        response = yield from rest(request)
        if not self.fault.hits and damage(asked.context.cluster, self._order):
            self.fault.strike(asked, [])
        return response


class DamageFault(Fault):
    """A damage that is done once. It outlives a reset of the cluster, as faults at points do."""

    outlives_reset = True

    def __init__(self, faults: Faults, order: DamageOrder) -> None:
        super().__init__(faults.next_number(), str(order), Criteria(FaultOptions()), [DoDamage(order)], faults.cluster.random)
        self._order = order

    def check(self, asked: Asked, _request: Message, _elements: Elements) -> Mismatch | None:
        api = asked.header.api.name
        if self.hits:
            return Mismatch("times")
        if damage(asked.context.cluster, self._order):
            self.strike(asked, [])
            return Mismatch("times")
        return None if api in _CHANGING else Mismatch("possible")


def add_damage(faults: Faults, order: DamageOrder) -> DamageFault:
    """Adds a damage to a cluster, before all faults, and returns it."""
    fault = DamageFault(faults, order)
    faults.add(fault, first=True)
    return fault


class ForgedCertificate(Fault):
    """A forged certificate, which new TLS connections get. Each of them is a hit, also if its client ends the handshake."""

    subject = "connection"
    outlives_reset = True

    def __init__(self, faults: Faults) -> None:
        super().__init__(faults.next_number(), FORGED_CERTIFICATE, Criteria(FaultOptions()), [], faults.cluster.random)
        self._faults = faults

    def check(self, _asked: Asked, _request: Message, _elements: Elements) -> Mismatch | None:
        """Returns a mismatch for every request."""
        return Mismatch(CONNECTION)

    def is_shown(self, broker: Broker) -> bool:
        """Counts a new connection to a node, and returns whether it gets the forged certificate: until the fault is removed."""
        if not self.removed:
            self.hit(Exchange(self._faults.cluster.timers.now_ms, broker.node_id, 0, "", CONNECTION, 0, 0, ()))
        return not self.removed


def add_forged_certificate(faults: Faults) -> ForgedCertificate:
    """Adds the fault to a cluster and returns it. The listeners have to ask it at each connection."""
    fault = ForgedCertificate(faults)
    faults.add(fault, first=True)
    return fault


def damage(cluster: ClusterState, order: DamageOrder) -> bool:
    """Changes the data of a cluster. Returns False, and changes nothing, if the target does not exist yet."""
    topic = cluster.topics.get(order.topic)
    partition = None if topic is None else topic.partition(order.partition)
    if partition is None:
        return False
    if order.kind == OFFSET_BACK:
        return _move_offset_back(cluster, order)
    done = _RECORD_DAMAGES[order.kind](partition, order.number)
    if done:
        cluster.wake(partition)
    return done


def _move_offset_back(cluster: ClusterState, order: DamageOrder) -> bool:
    offsets = cluster.groups.offsets.of(order.group)
    committed = offsets.get(order.topic, order.partition)
    if committed is None or committed.offset < 1:
        return False
    offsets.commit(order.topic, order.partition, committed._replace(offset=committed.offset - 1))
    return True


def _records(partition: Partition) -> list[Record]:
    """Returns the records below the high watermark."""
    log = partition.log
    batches = map(RecordBatch, log.batches(log.start_offset, partition.high_watermark))
    return [record for batch in batches if not batch.header.is_control for record in batch.records()]


def _remove(partition: Partition, number: int) -> bool:
    records = _records(partition)
    if len(records) < number:
        return False
    offset = records[number - 1].offset
    _rewrite(partition, lambda record: None if record.offset == offset else record)
    return True


def _repeat(partition: Partition, number: int) -> bool:
    records = _records(partition)
    if len(records) < number:
        return False
    batch = build_batch([records[number - 1]._replace(offset=0)])
    partition.log.append(memoryview(batch), partition.leader_epoch, owned=True)
    return True


def _swap(partition: Partition, number: int) -> bool:
    records = _records(partition)
    if len(records) <= number:
        return False
    first, second = records[number - 1 : number + 1]
    swapped = {first.offset: second._replace(offset=first.offset), second.offset: first._replace(offset=second.offset)}
    _rewrite(partition, lambda record: swapped.get(record.offset, record))
    return True


def _show_aborted(partition: Partition, number: int) -> bool:
    """Makes an aborted record visible: the same record without its transaction takes its place."""
    log = partition.log
    seen = 0
    for batch in map(RecordBatch, log.batches(log.start_offset, partition.high_watermark)):
        header = batch.header
        seen += 0 if header.is_control else header.records_count
        if seen >= number and not header.is_control:
            is_aborted = header.is_transactional and partition.producers.is_committed(header.producer_id, header.base_offset) is False
            if is_aborted:
                header = header._replace(attributes=header.attributes & ~_TRANSACTIONAL_BIT, producer_id=-1, producer_epoch=-1)
                visible = rewrite_batch(header._replace(base_sequence=-1), list(batch.records()), delete_horizon_ms=None)
                _replace_batch(partition, header.base_offset, visible)
            return is_aborted
    return False


_TRANSACTIONAL_BIT = 0x10


def _rewrite(partition: Partition, change: Callable[[Record], Record | None]) -> None:
    """Replaces the records of a partition by others with the same offsets, or by none."""
    _replace_batches(partition, lambda batch: _rewrite_batch(batch, change))


def _rewrite_batch(batch: RecordBatch, change: Callable[[Record], Record | None]) -> Buffer:
    records = list(batch.records())
    changed = [record for record in map(change, records) if record is not None]
    return batch.view if changed == records else rewrite_batch(batch.header, changed, delete_horizon_ms=None)


def _replace_batch(partition: Partition, base_offset: int, replacement: Buffer) -> None:
    _replace_batches(partition, lambda batch: replacement if batch.header.base_offset == base_offset else batch.view)


def _replace_batches(partition: Partition, replacement: Callable[[RecordBatch], Buffer]) -> None:
    log = partition.log
    batches = [
        batch.view if batch.header.is_control else replacement(batch)
        for batch in map(RecordBatch, log.batches(log.start_offset, log.end_offset))
    ]
    log.replace_before(log.end_offset, batches)


_RECORD_DAMAGES: dict[str, Callable[[Partition, int], bool]] = {
    GONE: _remove,
    TWICE: _repeat,
    SWAPPED: _swap,
    ABORTED_VISIBLE: _show_aborted,
}


class StoredData(NamedTuple):
    """The data at the end of a run: of each partition how many records it has, and which of them were aborted; and committed offsets.

    `has_certificates` says that clients can connect by TLS and trust the CA of the cluster.
    """

    records: dict[tuple[str, int], int]
    aborted: dict[tuple[str, int], list[int]]
    committed: list[tuple[str, str, int]]
    has_certificates: bool = False


def damages_of(runs: Iterable[StoredData]) -> Iterator[DamageOrder]:
    """Yields the damages that are tried: of each partition the first, the second and the last record that all runs have."""
    first, *others = runs
    if first.has_certificates:
        yield DamageOrder(FORGED)
    for (topic, partition), count in first.records.items():
        count = min(count, *(each.records.get((topic, partition), 0) for each in others))
        for number in sorted({1, 2, count} & set(range(1, count + 1))):
            yield DamageOrder(GONE, topic, partition, number)
            yield DamageOrder(TWICE, topic, partition, number)
            if number < count:
                yield DamageOrder(SWAPPED, topic, partition, number)
    for (topic, partition), numbers in first.aborted.items():
        yield DamageOrder(ABORTED_VISIBLE, topic, partition, numbers[0])
    for group, topic, partition in first.committed:
        if all((group, topic, partition) in each.committed for each in others):
            yield DamageOrder(OFFSET_BACK, topic, partition, group=group)
