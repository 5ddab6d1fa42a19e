"""The order in which faults are tried: the most telling ones first, and of many similar requests only some.

Heartbeats and fetches follow each other without a difference for the service, so that only the first, the second, the one in the middle and
the last are tried: at the beginning a member has not worked yet, and at the end it has finished.
Requests that write are tried up to MAX_WRITES of them, those in between after all others.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from .points import SEPARATOR, RequestPoint, Specification
from .table import ADMIN_WRITES, FAULTS, WRITES, faults_at
from .topology import ClusterTopology

MAX_WRITES = 12
"""How many writes of one API and role are tried."""
MAX_DEPTH = 2
_API_WEIGHTS = {
    "Produce": 60,
    "OffsetCommit": 60,
    "TxnOffsetCommit": 60,
    "EndTxn": 60,
    "ShareAcknowledge": 60,
    **dict.fromkeys(ADMIN_WRITES, 55),
    "JoinGroup": 40,
    "SyncGroup": 35,
    "ConsumerGroupHeartbeat": 40,
    "Heartbeat": 35,
    "Fetch": 40,
    "OffsetFetch": 35,
    "ListOffsets": 35,
    "ShareFetch": 40,
    "InitProducerId": 30,
    "AddPartitionsToTxn": 35,
    "AddOffsetsToTxn": 35,
}
"""How much a fault at a request of an API tells about a service. That of APIs that are not named is 0."""
_MIDDLE = -200
"""The weight of a write between others of its kind."""


class Trial(NamedTuple):
    """A run with one fault, or with several. `words` say what happens, by the point at which it happens.

    A run with a `damage`, which `broker/exploring/damage.py` specifies, has no fault, and its test has to fail.
    """

    specifications: tuple[Specification, ...]
    words: tuple[tuple[str, str], ...]
    damage: str = ""

    @property
    def text(self) -> str:
        """The specification of the run."""
        return self.damage or SEPARATOR.join(map(str, self.specifications))

    @property
    def story(self) -> str:
        """The points of the run with what happens there, such as `producer-1: the response to Produce 1 was lost`."""
        return "; then ".join(f"{role}: {words}" for role, words in self.words)


def plan_trials(
    points: Sequence[RequestPoint], topology: ClusterTopology, without: Container[str] = (), also: Container[str] = ()
) -> list[Trial]:
    """Returns the runs with one fault, in the order in which they should be tried.

    The faults in `without` are left out, and of the rare ones those in `also` are tried.
    """
    weighted = [
        (fault.weight + _API_WEIGHTS.get(point.api, 0) + place, point, fault.name)
        for point, place in _choose_points(points)
        for fault in faults_at(point, topology, also)
        if fault.name not in without
    ]
    weighted.sort(key=lambda each: -each[0])
    return [_trial(point, fault) for _, point, fault in weighted]


def pairs(trials: Sequence[Trial], count: int, random: Random) -> list[Trial]:
    """Returns at most `count` pairs of different trials with faults at different points, drawn at random."""
    found: dict[tuple[Specification, ...], Trial] = {}
    for _ in range(count * 4 if len(trials) > 1 else 0):
        first, second = random.sample(trials, 2)
        if first.specifications[0][:3] != second.specifications[0][:3] and len(found) < count:
            both = Trial(first.specifications + second.specifications, first.words + second.words)
            found[both.specifications] = both
    return list(found.values())


def trial_of(specifications: Sequence[Specification]) -> Trial:
    """Returns the run with the faults of some specifications, whose points are not known."""
    words = tuple((each.role, FAULTS[each.fault].tell(f"{each.api} {each.number}")) for each in specifications)
    return Trial(tuple(specifications), words)


def _trial(point: RequestPoint, fault: str) -> Trial:
    return Trial((point.at(fault),), ((str(point.role), FAULTS[fault].tell(f"{point.api} {point.number}")),))


def _choose_points(points: Sequence[RequestPoint]) -> Iterator[tuple[RequestPoint, int]]:
    """Yields the points at which faults are tried, with the weights of their places among similar ones."""
    similar: dict[tuple[str, str], list[RequestPoint]] = {}
    for point in points:
        if not point.is_answered and point.acks != 0:
            continue
        similar.setdefault((point.api, point.role_text), []).append(point)
    for kind, group in similar.items():
        yield from _of_kind(group, kind[0] in WRITES)


def _of_kind(group: Sequence[RequestPoint], writes: bool) -> Iterator[tuple[RequestPoint, int]]:
    """Yields the first, the second, the middle and the last point, or all if they write."""
    places: Mapping[int, int] = ({} if writes else {len(group) // 2: -6}) | {len(group) - 1: -8, 1: -4, 0: 0}
    for number, point in enumerate(group):
        if number in places:
            yield point, places[number] if number else 0
        elif writes and number < MAX_WRITES - 1:
            yield point, _MIDDLE
