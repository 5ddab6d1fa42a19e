"""The two measurements of Kafka's quotas: a rate over a sliding window, and a bucket of tokens.

`Rate` (Kafka's Rate and SampledStat) divides time into samples of `window_ms`, of which it keeps `samples`. The rate is the sum of all
samples divided by the time since the oldest one began, and by at least `samples - 1` whole windows, so that a burst after a pause does not
count as a high rate. The delay of a client that is above its limit is the time after which the rate would have sunk to the limit if the
client had been silent (Kafka's QuotaUtils).

`TokenBucket` (KIP-599) is for rare, expensive operations: tokens flow in at the rate of the limit, up to a whole window's worth. An
operation may take more tokens than there are; further ones are refused until the debt is paid.
"""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

MAX_DURATION_MS = 2**31 - 1


class QuotaWindow(NamedTuple):
    """The settings quota.window.num and quota.window.size.seconds (in ms), or their namesakes for other quotas."""

    samples: int
    window_ms: int


class _Sample:
    """The sum of the values of one window."""

    __slots__ = ("last_ms", "start_ms", "value")

    def __init__(self, now_ms: int) -> None:
        self.reset(now_ms)

    def reset(self, now_ms: int) -> None:
        self.start_ms = self.last_ms = now_ms
        self.value = 0.0


class Rate:
    """The sum of recorded values per second."""

    __slots__ = ("_current", "_samples", "_window")

    def __init__(self, window: QuotaWindow) -> None:
        self._window = window
        self._samples: list[_Sample] = []
        self._current = 0

    def record(self, value: float, now_ms: int) -> None:
        """Adds a value. A negative one takes an earlier value back."""
        if not self._samples:
            self._samples.append(_Sample(now_ms))
        sample = self._samples[self._current]
        if now_ms - sample.start_ms >= self._window.window_ms:
            sample = self._advance(now_ms)
        sample.value += value
        sample.last_ms = now_ms

    def _advance(self, now_ms: int) -> _Sample:
        """Returns the next sample. One more is kept than configured, because the oldest one overlaps the start of the window."""
        self._current = (self._current + 1) % (self._window.samples + 1)
        if self._current == len(self._samples):
            self._samples.append(_Sample(now_ms))
        else:
            self._samples[self._current].reset(now_ms)
        return self._samples[self._current]

    def throttle_ms(self, limit: float, now_ms: int) -> int:
        """Returns the delay after which the rate is at most `limit`; 0 if it is already."""
        expired_ms = self._window.samples * self._window.window_ms
        for sample in self._samples:
            if now_ms - sample.last_ms >= expired_ms:
                sample.reset(now_ms)
        window_ms = self._elapsed_ms(now_ms)
        rate = sum(sample.value for sample in self._samples) * 1000 / window_ms
        if rate <= limit:
            return 0
        return round_ms((rate - limit) / limit * window_ms) if limit else MAX_DURATION_MS

    def _elapsed_ms(self, now_ms: int) -> int:
        elapsed_ms = now_ms - min((sample.start_ms for sample in self._samples), default=now_ms)
        missing = self._window.samples - 1 - elapsed_ms // self._window.window_ms
        return max(1, elapsed_ms + max(0, missing) * self._window.window_ms)


class TokenBucket:
    """Tokens that flow in at the rate of a limit. A new bucket is full."""

    __slots__ = ("_tokens", "_updated_ms", "_window")

    def __init__(self, window: QuotaWindow) -> None:
        self._window = window
        self._tokens = float("inf")
        self._updated_ms = 0

    def record(self, value: float, limit: float, now_ms: int) -> None:
        """Takes `value` tokens, also if there are fewer."""
        self._refill(limit, now_ms)
        self._tokens -= value

    def throttle_ms(self, limit: float, now_ms: int) -> int:
        """Returns the delay after which no token is owed."""
        self._refill(limit, now_ms)
        return round_ms(-self._tokens / limit * 1000) if self._tokens < 0 else 0

    def _refill(self, limit: float, now_ms: int) -> None:
        full = self._window.samples * self._window.window_ms / 1000 * limit
        self._tokens = min(full, self._tokens + limit * (now_ms - self._updated_ms) / 1000)
        self._updated_ms = now_ms


def round_ms(milliseconds: float) -> int:
    """Returns the nearest integer that fits into a throttle time, as Java's Math.round and toInt do: halves are rounded up, NaN is 0."""
    if isnan(milliseconds):  # Kafka accepts a quota that is not a number
        return 0
    return int(min(milliseconds + 0.5, MAX_DURATION_MS))
