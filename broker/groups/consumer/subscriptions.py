"""The topics that the members of a consumer group subscribe to, by name or by a regular expression that the broker resolves."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from operator import attrgetter

from ....protocol.coordinator_records import RecordType
from ....protocol.errors import ErrorCode, KafkaError
from ...kafka_quirks.re2 import InvalidRegularExpression
from ..cluster_view import ClusterView
from .journal import Journal
from .member import ConsumerMember
from .regex_resolutions import Resolution

NO_TOPICS: frozenset[str] = frozenset()
UNKNOWN_VERSION = -1
_TOPICS_AND_REGEX = attrgetter("topics", "regex")


class Subscriptions:
    """The subscribed topics of one group. `refresh` updates them when subscriptions or topics have changed."""

    __slots__ = ("_cluster", "_journal", "_resolutions", "_version", "may_describe", "metadata_hash", "names", "regexes")

    def __init__(self, cluster: ClusterView, journal: Journal) -> None:
        self.regexes: dict[str, frozenset[str]] = {}
        """Regular expression -> topics that match and that `may_describe` allows."""
        self.names = NO_TOPICS
        """The topics that any member subscribes to, whether they exist or not."""
        self.metadata_hash = 0
        """A hash of the subscribed topics and their numbers of partitions, a signed 64-bit integer; 0 if no subscribed topic exists."""
        self.may_describe: Callable[[str], bool] | None = None
        """Returns whether the client of the last heartbeat may describe a topic; None if it may describe all. Regular expressions are
        resolved with the rights of the client whose heartbeat causes the resolution."""
        self._version = UNKNOWN_VERSION
        self._resolutions: dict[str, Resolution] = {}
        """References to the resolutions of the members' expressions, which keep `ClusterView.regexes` from dropping them."""
        self._cluster, self._journal = cluster, journal

    @property
    def are_current(self) -> bool:
        """Whether no topic or partition was created or deleted since the last `refresh`, and all expressions are resolved."""
        return self._version == self._cluster.topics_version

    def check(self, regex: str | None) -> None:
        """Raises KafkaError with INVALID_REGULAR_EXPRESSION for an expression that RE2 does not accept."""
        if regex and regex not in self._resolutions:
            try:
                self._resolutions[regex] = self._cluster.regexes.get(regex)
            except InvalidRegularExpression as error:
                message = f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {error}."
                raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, message) from None

    def refresh(self, members: Collection[ConsumerMember], changed: bool) -> bool:
        """Updates the topics if subscriptions `changed` or if topics were created or deleted.

        Returns whether the existing subscribed topics or their numbers of partitions are different now.
        """
        version = self._cluster.topics_version
        if not changed and version == self._version:
            return False
        # This is one pass in C, because it runs at each join to a large group.
        subscriptions: set[tuple[frozenset[str], str]] = set(map(_TOPICS_AND_REGEX, members))
        self._resolve({regex for _, regex in subscriptions if regex}, version)
        self.names = NO_TOPICS.union(*(names | self.regexes.get(regex, NO_TOPICS) for names, regex in subscriptions))
        before, self.metadata_hash = self.metadata_hash, self._hash()
        return before != self.metadata_hash

    def _resolve(self, used: set[str], version: int) -> None:
        """Updates the topics that match the expressions `used` by members.

        While an expression is being resolved in the background, its previous topics are kept.
        """
        self._resolutions = {regex: self._cluster.regexes.get(regex) for regex in sorted(used)}
        for regex in [regex for regex in self.regexes if regex not in used]:
            del self.regexes[regex]
            self._journal.touch(RecordType.REGULAR_EXPRESSION, regex)
        is_complete = True
        for regex in used if version != self._version else used - self.regexes.keys():
            matching = self._cluster.regexes.resolve(self._resolutions[regex])
            if matching is None:
                is_complete = False
                continue
            resolved = frozenset(filter(self.may_describe, matching))
            if self.regexes.get(regex) != resolved:
                self.regexes[regex] = resolved
                self._journal.touch(RecordType.REGULAR_EXPRESSION, regex)
        self._version = version if is_complete else UNKNOWN_VERSION

    def _hash(self) -> int:
        topics = self._cluster.topics
        found = sorted((topic.id, len(topic.partitions)) for name in self.names if (topic := topics.get(name)))
        digest = hashlib.blake2b(repr(found).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True) if found else 0

    def names_of(self, member: ConsumerMember) -> frozenset[str]:
        """Returns the topics that one member subscribes to, whether they exist or not."""
        return member.topics | self.regexes.get(member.regex, NO_TOPICS)

    def topic_ids(self, member: ConsumerMember) -> frozenset[bytes]:
        """Returns the ids of the existing topics that one member subscribes to."""
        topics = self._cluster.topics
        return frozenset(topic.id for name in self.names_of(member) if (topic := topics.get(name)))
