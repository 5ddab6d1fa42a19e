"""The topics that the members of a consumer group subscribe to, by name or by a regular expression that the broker resolves.

Members are counted by their subscription, so that a member which joins a large group costs no more than the first one: as long as another
member has the same subscription, the topics of the group are the same.
"""

from __future__ import annotations

from collections.abc import Callable

from ....protocol.errors import ErrorCode, KafkaError
from ....protocol.stored.coordinator_records import RecordType
from ...scheduling.revertible import RevertibleDict
from ...scheduling.timers import Timers
from ..cluster_view import ClusterView
from ..heartbeat_group import Journal, metadata_hash
from .member import ConsumerMember
from .regex_resolutions import Resolution

NO_TOPICS: frozenset[str] = frozenset()
UNKNOWN_VERSION = -1

Subscription = tuple[frozenset[str], str]
"""The topic names and the regular expression of a member, which may both be empty."""


class Subscriptions:
    """The subscribed topics of one group. After subscriptions have been counted, or topics have changed, `refresh` updates the topics."""

    __slots__ = (
        "_clock", "_cluster", "_is_outdated", "_journal", "_resolutions", "_resolved_at_ms", "_version",
        "counts", "may_describe", "metadata_hash", "names", "regexes",
    )  # fmt: skip

    def __init__(self, cluster: ClusterView, journal: Journal, clock: Timers) -> None:
        self.regexes: dict[str, frozenset[str]] = {}
        """Regular expression -> topics that match and that `may_describe` allows."""
        self.names = NO_TOPICS
        """The topics that any member subscribes to, whether they exist or not."""
        self.metadata_hash = 0
        """A hash of the subscribed topics and their numbers of partitions, a signed 64-bit integer; 0 if no subscribed topic exists."""
        self.may_describe: Callable[[str], bool] | None = None
        """Returns whether the client of the last heartbeat may describe a topic; None if it may describe all. Regular expressions are
        resolved with the rights of the client whose heartbeat causes the resolution."""
        self.counts: RevertibleDict[Subscription, int] = RevertibleDict()
        """Subscription -> number of members that have it."""
        self._is_outdated = False
        """Whether `counts` has got or lost a subscription since the last `refresh`."""
        self._version = UNKNOWN_VERSION
        self._resolutions: dict[str, Resolution] = {}
        """References to the resolutions of the members' expressions, which keep `ClusterView.regexes` from dropping them."""
        self._resolved_at_ms = clock.now_ms
        """The time at which the expressions were last compared with all topics."""
        self._cluster, self._journal, self._clock = cluster, journal, clock

    @property
    def are_current(self) -> bool:
        """Whether no topic or partition was created or deleted since the last `refresh`, and all expressions are resolved.

        Resolutions older than group.consumer.regex.refresh.interval.ms are not current, because ACLs may have changed meanwhile.
        """
        return self._version == self._cluster.topics_version and not self._are_old

    @property
    def _are_old(self) -> bool:
        interval_ms = self._cluster.config.integers["group.consumer.regex.refresh.interval.ms"]
        return bool(self.regexes) and self._clock.now_ms >= self._resolved_at_ms + interval_ms

    def check(self, regex: str | None) -> None:
        """Raises KafkaError with INVALID_REGULAR_EXPRESSION for an expression that RE2 does not accept."""
        if regex and regex not in self._resolutions:
            from ...kafka_quirks.re2 import InvalidRegularExpression

            try:
                self._resolutions[regex] = self._cluster.regexes.get(regex)
            except InvalidRegularExpression as error:
                message = f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {error}."
                raise KafkaError(ErrorCode.INVALID_REGULAR_EXPRESSION, message) from None

    def add(self, member: ConsumerMember) -> None:
        """Counts the subscription of a member that has been added, or whose subscription has changed."""
        subscription = member.topics, member.regex
        count = self.counts.get(subscription, 0)
        self.counts[subscription] = count + 1
        self._is_outdated = self._is_outdated or not count

    def remove(self, subscription: Subscription) -> None:
        """Removes the subscription of a member that has been removed, or whose subscription has changed."""
        if self.counts[subscription] > 1:
            self.counts[subscription] -= 1
        else:
            del self.counts[subscription]
            self._is_outdated = True

    def refresh(self) -> bool:
        """Updates the topics if there are other subscriptions than before, topics were created or deleted, or resolutions are old.

        Returns whether the existing subscribed topics or their numbers of partitions are different now.
        """
        if not self._is_outdated and self.are_current:
            return False
        if self._are_old:
            self._version = UNKNOWN_VERSION
        version, self._is_outdated = self._cluster.topics_version, False
        self._resolve({regex for _, regex in self.counts if regex}, version)
        self.names = NO_TOPICS.union(*(names | self.regexes.get(regex, NO_TOPICS) for names, regex in self.counts))
        before, self.metadata_hash = self.metadata_hash, metadata_hash(self.names, self._cluster.topics)
        return before != self.metadata_hash

    def _resolve(self, used: set[str], version: int) -> None:
        """Updates the topics that match the expressions `used` by members.

        While an expression is being resolved in the background, its previous topics are kept.
        """
        self._resolutions = {regex: self._cluster.regexes.get(regex) for regex in sorted(used)}
        for regex in [regex for regex in self.regexes if regex not in used]:
            del self.regexes[regex]
            self._journal.touch(RecordType.REGULAR_EXPRESSION, regex)
        is_complete, is_full = True, version != self._version
        if is_full:
            self._resolved_at_ms = self._clock.now_ms
        for regex in used if is_full else used - self.regexes.keys():
            matching = self._cluster.regexes.resolve(self._resolutions[regex])
            if matching is None:
                is_complete = False
                continue
            resolved = frozenset(filter(self.may_describe, matching))
            if self.regexes.get(regex) != resolved:
                self.regexes[regex] = resolved
                self._journal.touch(RecordType.REGULAR_EXPRESSION, regex)
        self._version = version if is_complete else UNKNOWN_VERSION

    def names_of(self, member: ConsumerMember) -> frozenset[str]:
        """Returns the topics that one member subscribes to, whether they exist or not."""
        return member.topics | self.regexes.get(member.regex, NO_TOPICS)

    def topic_ids(self, member: ConsumerMember) -> frozenset[bytes]:
        """Returns the ids of the existing topics that one member subscribes to."""
        topics = self._cluster.topics
        return frozenset(topic.id for name in self.names_of(member) if (topic := topics.get(name)))
