"""What a case is: a short script of requests, with names where ids are, sent to Apache Kafka and to us.

A topic's name is the same on both sides, so it is unique among all cases. Its id is written as `id_of(name)`, in messages and
in raw bytes alike; what plays the script puts the real one in its place. What a broker draws, a member id say, is bound to a name
by the answer that tells it first (`binds`); `$name` stands for it in the texts of later requests and of all answers, `number_of(name)`
for a number of 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import md5
from typing import NamedTuple, TypeAlias

from odradek.protocol.schema import Api, Message

Payload: TypeAlias = Message | bytes | Callable[[int], Message]
"""A message, its bytes as they are to be sent, or a function of the present time (ms) that makes it."""


class Topic(NamedTuple):
    """A topic to be made before the case; partition 0 is led by node 1, partition 1 by node 2."""

    name: str
    configs: Mapping[str, str] = {}
    replicas: tuple[tuple[int, ...], ...] = ((1,), (2,))


LOCALHOST = "127.0.0.1"


class Ask(NamedTuple):
    """One request to one node. Without `answered` none is expected, so a further request shows how the connection is.

    Each name of a `connection` is one of its own. A request that `waits` may be answered later, to `Answer` or when the case ends.
    `binds` has names for fields of the answer that are texts or numbers of 64 bits.
    With `in_order` the order of the answer's lists is compared too, though Kafka keeps them in a hash table.
    `host` is the address that it comes from. `settles` says that Kafka's brokers hear of the change a moment after the answer.
    """

    api: Api
    version: int
    payload: Payload
    node: int = 1
    answered: bool = True
    client_id: str | None = "test"
    connection: str = ""
    waits: bool = False
    binds: Mapping[str, str] = {}
    host: str = LOCALHOST
    settles: bool = False
    in_order: bool = False


class Answer(NamedTuple):
    """The answer to the request that waits on a connection."""

    connection: str
    node: int = 1


class Pause(NamedTuple):
    """Time that passes."""

    milliseconds: int


class Raw(NamedTuple):
    """A frame as it is, length included."""

    frame: bytes
    node: int = 1


class Stop(NamedTuple):
    """A node is shut down, in good order. Node 1 stays, because it is the controller too."""

    node: int


class Start(NamedTuple):
    """A node that was stopped comes back."""

    node: int


Step: TypeAlias = Ask | Raw | Answer | Pause | Stop | Start


class Case(NamedTuple):
    """A script. Its name begins with the family's; a dot parts the words. The answers to `before` are not written down."""

    name: str
    topics: tuple[Topic, ...]
    steps: tuple[Step, ...]
    before: tuple[Step, ...] = ()


Cases: TypeAlias = Iterable[Case] | Iterator[Case]


class Family(NamedTuple):
    """Cases that are played against one cluster; `settings` are its own, beside those that all have.

    `coordinators` are the replicas of the partitions of `__consumer_offsets`.
    """

    cases: Callable[[], Cases]
    settings: Mapping[str, str] = {}
    nodes: int = 2
    coordinators: tuple[tuple[int, ...], ...] = ((1,),)


def id_of(name: str) -> bytes:
    """What stands for a topic's id in a script."""
    return md5(name.encode(), usedforsecurity=False).digest()


def number_of(name: str) -> int:
    """What stands for a bound number of 64 bits in a script."""
    return int.from_bytes(id_of(name)[:8], "big", signed=True)


def all_versions(api: Api) -> range:
    return range(api.versions.first, api.versions.last + 1)
