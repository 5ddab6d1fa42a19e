"""The options of a fault, and the requests that it reports. Controls take and return both, so this module imports no other of the folder.

A field of `FaultOptions` declares an option once: its name, its type and meaning, its least value, and the acts that it needs. The
parameters of `cluster.fault`, `/fault/add` and `odradek ctl fault add` with their documentation follow from the fields, and so do checks in
`creation.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple

from ..frozen_data import FrozenData

REGISTRY_API = "SchemaRegistry"
"""The name that stands for the requests to the schema registry where faults and filters name APIs."""


class AtLeast(NamedTuple):
    """The least value of an option."""

    value: int


class Needs(NamedTuple):
    """The acts of which one must be given too, because the option only changes them."""

    acts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FaultOptions:
    """Which requests a fault hits, and what happens to these. None stands for an option that is not given."""

    api: Annotated[str | Sequence[str] | None, "the APIs of the requests, such as Produce"] = None
    min_version: Annotated[int | None, "the lowest version of the API", AtLeast(0)] = None
    max_version: Annotated[int | None, "the highest version of the API", AtLeast(0)] = None
    node: Annotated[int | None, "the id of the node that the client is connected to"] = None
    listener: Annotated[str | None, "the name of the listener"] = None
    client_id: Annotated[str | None, "a pattern for the client id, with * and ?"] = None
    client_software: Annotated[str | None, "a pattern for name/version of the client library, such as librdkafka/2.*"] = None
    principal: Annotated[str | None, "a pattern for the principal, such as User:alice"] = None
    peer: Annotated[str | None, "a pattern for the address of the client, such as 127.0.0.1"] = None
    connection: Annotated[int | None, "the id of a connection"] = None
    topic: Annotated[str | None, "a pattern for the name of a topic; only its part of a request is hit"] = None
    partitions: Annotated[int | Sequence[int] | None, "indexes of partitions; only their part of a request is hit"] = None
    group: Annotated[str | None, "a pattern for the id of a group"] = None
    transactional_id: Annotated[str | None, "a pattern for a transactional id"] = None
    subject: Annotated[str | None, "a pattern for the subject of a request to the schema registry (api SchemaRegistry)"] = None
    path: Annotated[str | None, "a pattern for the path of a request to the schema registry, such as /schemas/ids/*"] = None
    acks: Annotated[int | None, "the acks of a Produce: -1 for all, 0 or 1"] = None
    skip: Annotated[int | None, "how many of the matching requests pass first", AtLeast(0)] = None
    every: Annotated[int | None, "hits every n-th of the matching requests", AtLeast(1)] = None
    times: Annotated[int | None, "how many requests are hit at most", AtLeast(1)] = None
    probability: Annotated[float | None, "the probability with which a matching request is hit"] = None
    after: Annotated[
        datetime | str | int | None, "the time of the cluster from which on requests are hit; a number is milliseconds since 1970"
    ] = None
    until: Annotated[datetime | str | int | None, "the time of the cluster until which requests are hit"] = None
    when: Annotated[Callable[[Any], object] | None, "a function of the decoded request"] = None
    error: Annotated[
        str | None, "the error code of the response, such as NOT_LEADER_OR_FOLLOWER; of the schema registry, such as 50003"
    ] = None
    status: Annotated[int | None, "the HTTP status of the schema registry's answer, such as 503", AtLeast(400)] = None
    stage: Annotated[
        Literal["before", "after"] | None,
        "whether error and drop come before the work (the default) or after it",
        Needs(("error", "drop")),
    ] = None
    respond: Annotated[Mapping[str, Any] | None, "fields of the response and their values, nested as in the response"] = None
    delay_ms: Annotated[int | None, "how long the response waits, in milliseconds of the cluster's time", AtLeast(0)] = None
    jitter_ms: Annotated[int | None, "how long the response waits in addition at most; the time is random", AtLeast(0)] = None
    throttle_ms: Annotated[int | None, "the throttle time that the response says, and for which the connection is muted", AtLeast(0)] = None
    drop: Annotated[bool | None, "whether the response is not written"] = None
    close: Annotated[Literal["fin", "rst"] | None, "how the connection ends when the response is dropped", Needs(("drop",))] = None
    cut_at_bytes: Annotated[
        int | None, "how many bytes of the dropped response are written before the connection ends", AtLeast(0), Needs(("drop",))
    ] = None
    hang: Annotated[bool | None, "whether the request is neither read nor answered, while the connection stays open"] = None
    hang_ms: Annotated[int | None, "how long it hangs; without it, until the fault is removed", AtLeast(0), Needs(("hang",))] = None
    bytes_per_s: Annotated[int | None, "the rate at which the response is written", AtLeast(1)] = None
    chunk_bytes: Annotated[int | None, "the size of the pieces in which the response is written", AtLeast(1)] = None
    corrupt: Annotated[
        Literal["crc", "bit", "truncate", "length", "correlation_id"] | None,
        "what is damaged: the CRC, a record or the end of a fetched batch, or the length or correlation id of the response",
    ] = None
    refuse: Annotated[
        bool | Literal["refused", "closed", "silent"] | None,
        "new connections are refused (also true), accepted and closed, or accepted and never answered",
    ] = None

    @property
    def given(self) -> dict[str, Any]:
        """The options that are given, in the order of the fields. False means the same as None."""
        return {name: value for name, value in vars(self).items() if value is not None and value is not False}

    def __str__(self) -> str:
        return " ".join(f"{name}={_text(value)}" for name, value in self.given.items())


def _text(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(getattr(value, "__qualname__", value))


class Exchange(FrozenData):
    """A request that a fault has hit. `time_ms` is the time of the cluster in milliseconds since the Unix epoch."""

    time_ms: int
    node: int
    connection: int
    client_id: str
    api: str
    version: int
    correlation_id: int
    topics: tuple[str, ...]
