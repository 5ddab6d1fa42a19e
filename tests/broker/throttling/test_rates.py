"""Rates over sliding windows and token buckets, with the values of Kafka's own classes."""

from __future__ import annotations

from odradek.broker.throttling.rates import MAX_DURATION_MS, QuotaWindow, Rate, TokenBucket

WINDOW = QuotaWindow(samples=11, window_ms=1000)
START_MS = 1_700_000_000_000


def test_first_burst_counts_against_ten_whole_windows() -> None:
    rate = Rate(WINDOW)
    rate.record(100, START_MS)
    assert rate.throttle_ms(10, START_MS) == 0
    assert rate.throttle_ms(5, START_MS) == 10_000
    assert rate.throttle_ms(3, START_MS) == 23_333


def test_burst_counts_until_its_sample_expires() -> None:
    rate = Rate(WINDOW)
    rate.record(100, START_MS)
    assert rate.throttle_ms(9, START_MS) == 1111
    assert rate.throttle_ms(9, START_MS + 999) == 112
    assert rate.throttle_ms(9, START_MS + 11_000) == 0


def test_samples_expire_after_all_windows() -> None:
    rate = Rate(WINDOW)
    for second in range(30):
        rate.record(10, START_MS + second * 1000)
    last_ms = START_MS + 29_000
    assert rate.throttle_ms(10, last_ms) == 1000  # twelve samples of ten in eleven seconds
    assert rate.throttle_ms(1, last_ms + 11_000) == 0


def test_value_taken_back_does_not_count() -> None:
    rate = Rate(WINDOW)
    rate.record(1000, START_MS)
    rate.record(-1000, START_MS)
    assert rate.throttle_ms(1, START_MS) == 0


def test_limit_of_zero_throttles_for_the_longest_time() -> None:
    rate = Rate(WINDOW)
    assert rate.throttle_ms(0, START_MS) == 0
    rate.record(1, START_MS)
    assert rate.throttle_ms(0, START_MS) == MAX_DURATION_MS


def test_tiny_limit_throttles_for_the_longest_time() -> None:
    rate = Rate(WINDOW)
    rate.record(1 << 30, START_MS)
    assert rate.throttle_ms(1e-9, START_MS) == MAX_DURATION_MS


def test_token_bucket_allows_one_debt_and_refills() -> None:
    bucket = TokenBucket(WINDOW)
    assert bucket.throttle_ms(2, START_MS) == 0
    bucket.record(30, 2, START_MS)  # 22 tokens are in a full bucket
    assert bucket.throttle_ms(2, START_MS) == 4000
    assert bucket.throttle_ms(2, START_MS + 3999) == 1
    assert bucket.throttle_ms(2, START_MS + 4000) == 0
    bucket.record(22, 2, START_MS + 100_000)
    assert bucket.throttle_ms(2, START_MS + 100_000) == 0
