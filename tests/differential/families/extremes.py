"""The longest names and largest numbers, text that is not UTF-8, and the state after a refusal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.protocol.frame import encode_request
from odradek.protocol.messages.offset_commit import OFFSET_COMMIT
from odradek.protocol.schema import Message

from ..case import Case, Pause, Send, SendRaw, Step
from ..group_requests import (
    LONG_MS,
    TOPICS,
    ClassicMember,
    ConsumerMember,
    commit,
    delete_groups,
    describe,
    describe_consumers,
    fetch_offsets,
)
from ..replay import CORRELATION_ID

SETTINGS = {"offsets.retention.check.interval.ms": "1000"}
LONGEST, UUID = 32_767, 37
LAST, FIRST = (1 << 63) - 1, -(1 << 63)
Scripts = Iterator[tuple[str, tuple[Step, ...]]]


def cases() -> Iterator[Case]:
    for name, steps in (*retention_times(), *names(), *refusals(), *texts(), *regexes()):
        yield Case(f"extremes.{name}", TOPICS, steps)


def retention_times() -> Scripts:
    """Yields retention times whose sum with the present time overflows 64 bits: in Java the sum is then far in the past."""
    for version in (2, 3, 4):
        for name, retention_ms in (("last", LAST), ("next-to-last", LAST - 1), ("first", FIRST)):
            group = f"extremes.retention.v{version}.{name}"
            yield f"retention.v{version}.{name}", (commit(group, version=version, retention_ms=retention_ms), fetch_offsets(group))
    group = "extremes.retention.expires"
    yield "retention.expires", (commit(group, version=2, retention_ms=LAST), Pause(2500), fetch_offsets(group), describe(group))
    group = "extremes.retention.stays"
    yield "retention.stays", (commit(group, version=2, retention_ms=LAST // 2), Pause(2500), fetch_offsets(group), describe(group))


def names() -> Scripts:
    for version in (3, 5, 9):
        for length in (LONGEST - UUID, LONGEST - UUID + 1, LONGEST):
            member = ClassicMember(f"extremes.client.{length}.{version}", "m")
            yield f"client.{length}.v{version}", (member.join("", version=version)._replace(client_id="c" * length),)
    for length in (250, LONGEST - UUID, LONGEST - UUID + 1, LONGEST):
        yield f"instance.{length}", (ClassicMember(f"extremes.instance.{length}", "m", "i" * length).join(""),)
    group = "g" * LONGEST
    member = ClassicMember(group, "m")
    yield "group", (member.join(""), member.heartbeat(1), commit(group), describe(group), fetch_offsets(group), delete_groups(group))
    yield "group.missing", (describe(group), describe_consumers(group), ConsumerMember(group, "m").beat(1), delete_groups(group))
    for length in (20_000, LONGEST):
        modern = ConsumerMember(f"extremes.member.{length}", "m" * length)
        yield f"member.{length}", (modern.beat(1), modern.join(), modern.beat(5), modern.leave(), modern.beat(2))


def refusals() -> Scripts:
    group = "extremes.refusals"
    yield "metadata", (commit(group, metadata="m" * 4097), describe(group), fetch_offsets(group))


def texts() -> Scripts:
    for version in (7, 8):
        yield f"utf-8.v{version}", (_with_bad_text(commit("QQQQ", version=version).payload, version),)


def _with_bad_text(request: Any, version: int) -> SendRaw:
    assert isinstance(request, Message)
    frame = b"".join(encode_request(OFFSET_COMMIT, version, CORRELATION_ID, "test", request))
    return SendRaw(frame.replace(b"QQQQ", b"Q\xff\xfeQ"))


def regexes() -> Scripts:
    """Yields a script in which a member changes to a pattern without matches, while another member still reads the topics."""
    a, b = (ConsumerMember("extremes.regex", name) for name in "ab")
    both, nothing = "groups-(one|two)", "no such topic"
    yield (
        "regex.narrowed",
        (
            _by_regex(a, both),
            Pause(1500),
            a.beat(1),
            a.beat(2),
            _by_regex(b, both),
            a.beat(2),
            a.beat(2, owned={}),
            b.beat(3),
            a.beat(3, subscribed_topic_regex=nothing),
            Pause(1500),
            a.beat(3, owned={}),
            b.beat(3),
            describe_consumers("extremes.regex"),
        ),
    )


def _by_regex(member: ConsumerMember, regex: str) -> Send:
    return member.beat(0, rebalance_timeout_ms=LONG_MS, subscribed_topic_regex=regex, owned={})
