"""The roles of clients: what a client does, by which it is recognised in another run of a test.

Client ids, ports and member ids differ from run to run, or are the same for all clients of a program. A role consists of what a client does
(it produces, is a member of a group, ...) and of the order in which the clients with this activity appear. Requests tell their role by the
group or the transactional id that they name, or by their API. Requests that only find the way, such as Metadata, belong to the role
"client", because a client sends them before it is known what it will do.

The same class numbers the requests of a record and those that arrive at the gate, so that both find the same n-th request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import NamedTuple

from ...protocol.schema import Message
from ..faults.elements import Element, NamedElements

MEMBER, SHARER, TRANSACTIONAL, PRODUCER, READER, ADMIN, CLIENT = (
    "group",
    "share-group",
    "transaction",
    "producer",
    "consumer",
    "admin",
    "client",
)

_MEMBER_APIS = frozenset(
    (
        "JoinGroup",
        "SyncGroup",
        "Heartbeat",
        "LeaveGroup",
        "OffsetCommit",
        "OffsetFetch",
        "ConsumerGroupHeartbeat",
        "StreamsGroupHeartbeat",
    )
)
_SHARER_APIS = frozenset(("ShareGroupHeartbeat", "ShareFetch", "ShareAcknowledge"))
_READER_APIS = frozenset(("Fetch", "ListOffsets", "OffsetForLeaderEpoch"))
_PRELIMINARY_APIS = frozenset(
    (
        "ApiVersions",
        "Metadata",
        "DescribeCluster",
        "SaslHandshake",
        "SaslAuthenticate",
        "FindCoordinator",
        "GetTelemetrySubscriptions",
        "PushTelemetry",
    )
)


class Sender(NamedTuple):
    """A client as a request shows it: the number of its connection, its client id and its host."""

    connection: int
    client_id: str
    host: str

    @property
    def identity(self) -> tuple[str, str]:
        """The client id and the host, which the connections of a client have in common. Clients of one program may share it."""
        return self.client_id, self.host


class ClientRole(NamedTuple):
    """The `number`-th client that does the same thing, counted from 1.

    `name` is the group or transactional id, "" if there is none, and `name_number` says which name of this kind it is, counted from 1.
    """

    kind: str
    name: str = ""
    number: int = 1
    name_number: int = 1

    @property
    def text(self) -> str:
        """The role in a specification: "billing" is the first member of that group, "billing/2" the second, "producer" has no name."""
        return self._with_number(self.name or self.kind)

    @property
    def ordinal_text(self) -> str:
        """The same for names that differ from run to run: "group-1" is the first member of the first group."""
        return self._with_number(f"{self.kind}-{self.name_number}" if self.name else self.kind)

    def is_called(self, text: str) -> bool:
        """Returns whether one of the texts of the role is this one."""
        return text in (self.text, self.ordinal_text)

    def __str__(self) -> str:
        title = f"{self.name or self.kind}-{self.number}"
        if self.kind == MEMBER:
            return f'{title} (member of group "{self.name}")'
        if self.kind == SHARER:
            return f'{title} (member of share group "{self.name}")'
        if self.kind == TRANSACTIONAL:
            return f'{title} (producer with transactional id "{self.name}")'
        return title

    def _with_number(self, text: str) -> str:
        return text if self.number == 1 else f"{text}/{self.number}"


class Roles:
    """Assigns requests to roles. They have to be passed in the order in which they arrive."""

    def __init__(self) -> None:
        self._elements = NamedElements(lambda _: None)
        self._names: dict[str, list[str]] = {}
        """The names of each kind, in the order of their appearance."""
        self._numbers: dict[tuple[str, str], dict[Hashable, int]] = {}
        """The numbers of clients by what identifies them: a member id, a connection, or an identity."""
        self._counts: Counter[tuple[str, str]] = Counter()
        self._reads_as: dict[Hashable, ClientRole] = {}
        """The memberships of connections and identities, to which their Fetch requests belong."""

    def role_of(self, sender: Sender, api: str, request: Message) -> ClientRole:
        """Returns the role in which a client sends a request."""
        kind, name = self._activity(api, request)
        if kind in (MEMBER, SHARER):
            role = self._role(kind, name, self._member_number((kind, name), sender, api, request))
            self._reads_as[sender.identity] = role
            return role
        if kind == READER and (membership := self._membership(sender)) is not None:
            return membership
        return self._role(kind, name, self._client_number((kind, name), sender.identity))

    def _activity(self, api: str, request: Message) -> tuple[str, str]:
        """Returns the kind of the role and its name."""
        if api == "FindCoordinator":
            element = next(iter(self._elements.find(request)), Element())
            if element.group or element.transactional_id:
                return (MEMBER, element.group) if element.group else (TRANSACTIONAL, element.transactional_id or "")
        if api in _PRELIMINARY_APIS:
            return CLIENT, ""
        subject = self._elements.whole(request)
        if subject.transactional_id is None and subject.group is None and api in ("OffsetFetch", "AddPartitionsToTxn"):
            subject = next(iter(self._elements.find(request)), subject)
        if subject.transactional_id:
            return TRANSACTIONAL, subject.transactional_id
        if api in _SHARER_APIS:
            return SHARER, subject.group or ""
        if api in _MEMBER_APIS:
            return MEMBER, subject.group or ""
        if api in _READER_APIS:
            return READER, ""
        return (PRODUCER if api in ("Produce", "InitProducerId") else ADMIN), ""

    def _membership(self, sender: Sender) -> ClientRole | None:
        """Returns the membership of a client that reads. A connection keeps the one with which it began."""
        role = self._reads_as.get(sender.connection, self._reads_as.get(sender.identity))
        if role is not None:
            self._reads_as[sender.connection] = role
        return role

    def _member_number(self, activity: tuple[str, str], sender: Sender, api: str, request: Message) -> int:
        """Returns the number of a member, which has a new one if it joins on a connection that no other member has used."""
        numbers = self._numbers.setdefault(activity, {})
        keys: list[Hashable] = [sender.connection]
        if member_id := getattr(request, "member_id", ""):
            keys.insert(0, member_id)
        number = next((numbers[key] for key in keys if key in numbers), 0)
        if not number:
            joins = api == "JoinGroup" or getattr(request, "member_epoch", 1) == 0
            self._counts[activity] += joins
            number = max(self._counts[activity], 1)
        if api != "FindCoordinator":
            numbers.update(dict.fromkeys(keys, number))
        return number

    def _client_number(self, activity: tuple[str, str], identity: tuple[str, str]) -> int:
        numbers = self._numbers.setdefault(activity, {})
        return numbers.setdefault(identity, len(numbers) + 1)

    def _role(self, kind: str, name: str, number: int) -> ClientRole:
        names = self._names.setdefault(kind, [])
        if name not in names:
            names.append(name)
        return ClientRole(kind, name, number, names.index(name) + 1)


class RequestCounter:
    """Numbers the requests of each API in each role, from 1."""

    def __init__(self) -> None:
        self._roles = Roles()
        self._counts: Counter[tuple[str, str, str, int]] = Counter()

    def count(self, sender: Sender, api: str, request: Message) -> tuple[ClientRole, int]:
        """Returns the role of a request, and its number."""
        role = self._roles.role_of(sender, api, request)
        key = (api, role.kind, role.name, role.number)
        self._counts[key] += 1
        return role, self._counts[key]
