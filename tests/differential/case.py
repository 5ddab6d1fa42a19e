"""The parts of a case: a short sequence of requests, which is sent to Apache Kafka and to our broker.

Topic names are the same on both brokers, so they are unique among all cases. A topic id is written as `id_of(name)`, in messages and in
raw bytes, and replaced by the real id when the request is sent. A value that a broker generates, such as a member id, is bound to a name by
the first answer that contains it (`binds`). In the texts of later requests, and of all answers, `$name` stands for it; `number_of(name)`
stands for a bound 64-bit number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import md5
from typing import Any, NamedTuple, TypeAlias

from odradek.protocol.schema import Api, Message

Payload: TypeAlias = Message | bytes | Callable[[int], Message]
"""A message, its encoded bytes, or a function that returns the message for the present time (ms)."""


class Topic(NamedTuple):
    """A topic that is created before the case. By default node 1 leads partition 0 and node 2 leads partition 1."""

    name: str
    configs: Mapping[str, str] = {}
    replicas: tuple[tuple[int, ...], ...] = ((1,), (2,))


LOCALHOST = "127.0.0.1"


class Send(NamedTuple):
    """One request to one node. Without `answered` no answer is expected; a further request then shows whether the connection is open.

    Each name in `connection` is a separate connection. A request that `waits` may be answered later: at a `Receive`, or when the case ends.
    `binds` maps names to fields of the answer that are texts or 64-bit numbers.
    With `in_order` the order of lists in the answer is compared as well, although Kafka keeps them in a hash table.
    `host` is the source address of the connection, `listener` the name of the listener that it is connected to. `settles` means that
    Kafka's brokers apply the change shortly after the answer.
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
    listener: str = ""


class Receive(NamedTuple):
    """Receives the answer to the request that waits on a connection."""

    connection: str
    node: int = 1


class Pause(NamedTuple):
    """Lets time pass."""

    milliseconds: int


class SendRaw(NamedTuple):
    """Sends a frame as it is, length included."""

    frame: bytes
    node: int = 1
    listener: str = ""


class ScramExchange(NamedTuple):
    """Authenticates by SCRAM on the connection to the listener SASL, in a handshake of this version.

    `first` is the client-first message. The client-final message belongs to the server's challenge and the password; `final` changes it
    before its proof is computed, and `proof` changes the proof. In the answers, the server's part of the nonce is replaced by `*`.
    A password that is the name of a bound delegation token stands for the password of that token.
    """

    mechanism: str
    first: str
    password: str
    version: int = 1
    final: Callable[[str], str] = str
    proof: Callable[[bytes], bytes] = bytes


class TokenRequest(NamedTuple):
    """A request for a delegation token whose id is bound to the name `token`; its HMAC is added to the fields."""

    api: Api
    version: int
    fields: Mapping[str, Any]
    token: str
    listener: str = ""


class Disconnect(NamedTuple):
    """Closes a connection."""

    connection: str
    node: int = 1


class StopNode(NamedTuple):
    """Shuts a node down in an orderly way. Node 1 must keep running, because it is also the controller."""

    node: int


class StartNode(NamedTuple):
    """Starts a node that was stopped."""

    node: int


class KillNode(NamedTuple):
    """Ends a node without a controlled shutdown. The others notice that when its session expires."""

    node: int


class PauseNode(NamedTuple):
    """Suspends the process of a node (SIGSTOP), so that it neither answers nor fetches."""

    node: int


class ResumeNode(NamedTuple):
    """Continues a node that was paused."""

    node: int


Step: TypeAlias = (
    Send | SendRaw | ScramExchange | TokenRequest | Receive | Pause | Disconnect | StopNode | StartNode | KillNode | PauseNode | ResumeNode
)


class Case(NamedTuple):
    """A sequence of steps. Its name begins with the name of its family. Answers to `before` are not compared."""

    name: str
    topics: tuple[Topic, ...]
    steps: tuple[Step, ...]
    before: tuple[Step, ...] = ()


Cases: TypeAlias = Iterable[Case] | Iterator[Case]


class Family(NamedTuple):
    """Cases that are sent to one cluster. `settings` are used in addition to the settings of all clusters.

    `coordinators` are the replicas of the partitions of `__consumer_offsets`. With `sasl`, each node has a second listener, SASL.
    With `as_version`, our broker emulates that release, and the answers are those of Apache Kafka of that release.
    """

    cases: Callable[[], Cases]
    settings: Mapping[str, str] = {}
    nodes: int = 2
    coordinators: tuple[tuple[int, ...], ...] = ((1,),)
    sasl: bool = False
    as_version: str = ""


def id_of(name: str) -> bytes:
    """Returns the placeholder of a topic id."""
    return md5(name.encode(), usedforsecurity=False).digest()


def number_of(name: str) -> int:
    """Returns the placeholder of a bound 64-bit number."""
    return int.from_bytes(id_of(name)[:8], "big", signed=True)


def all_versions(api: Api) -> range:
    return range(api.versions.first, api.versions.last + 1)
