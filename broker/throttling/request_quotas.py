"""The quotas of one client on one node, and their use by one request."""

from __future__ import annotations

from collections.abc import Callable

from ...protocol.errors import ErrorCode, KafkaError
from ..scheduling.timers import Timers
from .rates import QuotaWindow, Rate, TokenBucket


class LimitedRate:
    """A rate with its limit. `longest_ms` limits the throttle time."""

    def __init__(self, window: QuotaWindow, limit: float, *, longest_ms: int | None = None) -> None:
        self._rate = Rate(window)
        self._window = window
        self._longest_ms = longest_ms
        self.limit = limit
        self.used_ms = 0
        """The time of the last use."""

    @property
    def most_per_window(self) -> float:
        """The highest sum of one window that does not exceed the limit (ClientQuotaManager.getMaxValueInQuotaWindow)."""
        return self.limit * (self._window.samples - 1) * self._window.window_ms / 1000

    def record(self, value: float, now_ms: int) -> int:
        """Adds a value and returns the throttle time in ms."""
        self.used_ms = now_ms
        self._rate.record(value, now_ms)
        throttle_ms = self._rate.throttle_ms(self.limit, now_ms)
        return throttle_ms if self._longest_ms is None else min(throttle_ms, self._longest_ms)

    def take_back(self, value: float, now_ms: int) -> None:
        """Removes a value that was recorded at the same time."""
        self._rate.record(-value, now_ms)


class LimitedTokens:
    """A bucket of tokens with the rate at which it fills."""

    def __init__(self, window: QuotaWindow, limit: float) -> None:
        self._bucket = TokenBucket(window)
        self.limit = limit
        self.used_ms = 0
        """The time of the last use."""

    def debt_ms(self, now_ms: int) -> int:
        """Returns the time in ms after which no token is owed."""
        return self._bucket.throttle_ms(self.limit, now_ms)

    def take(self, tokens: float, now_ms: int) -> int:
        """Takes tokens and returns the time in ms after which none is owed."""
        self.used_ms = now_ms
        self._bucket.record(tokens, self.limit, now_ms)
        return self.debt_ms(now_ms)


class ClientLimits:
    """The quotas of a client, None where it has none."""

    __slots__ = ("fetching", "mutations", "producing", "request_time")

    def __init__(
        self,
        producing: LimitedRate | None,
        fetching: LimitedRate | None,
        request_time: LimitedRate | None,
        mutations: LimitedTokens | None,
    ) -> None:
        self.producing = producing
        self.fetching = fetching
        self.request_time = request_time
        self.mutations = mutations

    def __bool__(self) -> bool:
        return any((self.producing, self.fetching, self.request_time, self.mutations))


class RequestQuotas:
    """The quotas that one request uses. `throttle_ms` is the longest throttle time so far, which is not the sum, as in Kafka.

    `size` is the number of bytes of the request. `clock` is a monotonic clock in seconds, which measures the time that the request takes;
    rates follow the cluster's time.
    """

    def __init__(self, limits: ClientLimits, size: int, clock: Callable[[], float], timers: Timers) -> None:
        self._limits = limits
        self._size = size
        self._clock = clock
        self._timers = timers
        self._spent_s = 0.0
        self._began_s = clock()
        self._time_is_recorded = False
        self.throttle_ms = 0

    # The time that the request takes

    def pause(self) -> None:
        """Stops counting time, because the request waits."""
        self._spent_s += self._clock() - self._began_s

    def resume(self) -> None:
        """Counts time again."""
        self._began_s = self._clock()

    def record_time(self) -> None:
        """Counts the time of the request once, when its response is complete (request_percentage)."""
        limit = self._limits.request_time
        if limit is not None and not self._time_is_recorded:
            self._time_is_recorded = True
            percent_seconds = (self._spent_s + self._clock() - self._began_s) * 100
            self._throttle(limit.record(percent_seconds, self._timers.now_ms))

    # Bytes

    def record_produce(self) -> None:
        """Counts the bytes of the request, a Produce (producer_byte_rate)."""
        if self._limits.producing is not None:
            self._throttle(self._limits.producing.record(self._size, self._timers.now_ms))

    def cap_fetch(self, max_bytes: int) -> int:
        """Returns the number of bytes that a fetch may return at most, so that a single response does not exceed the quota."""
        limit = self._limits.fetching
        return int(limit.most_per_window) if limit is not None and limit.most_per_window < max_bytes else max_bytes

    def admit_fetch(self, size: int) -> bool:
        """Counts the bytes of a response (consumer_byte_rate). Returns False, and does not count them, if the client is throttled."""
        self.record_time()
        limit, now_ms = self._limits.fetching, self._timers.now_ms
        if limit is not None:
            self._throttle(limit.record(size, now_ms))
        if not self.throttle_ms:
            return True
        if limit is not None:
            limit.take_back(size, now_ms)
        return False

    # Changes of topics

    def mutate(self, partitions: int, *, strict: bool) -> None:
        """Counts partitions that are created or deleted (controller_mutation_rate, KIP-599).

        If earlier ones are still owed, a `strict` request is refused: raises KafkaError with THROTTLING_QUOTA_EXCEEDED. Other requests
        are carried out and throttled.
        """
        limit, now_ms = self._limits.mutations, self._timers.now_ms
        if limit is None:
            return
        if not strict:
            self._throttle(limit.take(partitions, now_ms))
        elif debt_ms := limit.debt_ms(now_ms):
            self._throttle(debt_ms)
            raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        else:
            limit.take(partitions, now_ms)

    def _throttle(self, milliseconds: int) -> None:
        self.throttle_ms = max(self.throttle_ms, milliseconds)
