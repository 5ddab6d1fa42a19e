"""The longest names and the largest numbers, bytes that are no text, and what a refusal leaves behind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.protocol.frame import encode_request
from odradek.protocol.messages.offset_commit import OFFSET_COMMIT
from odradek.protocol.schema import Message

from ..grouping import LONG_MS, TOPICS, Classic, Modern, commit, delete_groups, describe, describe_consumers, fetch_offsets
from ..playing import CORRELATION_ID
from ..script import Ask, Case, Pause, Raw, Step

SETTINGS = {"offsets.retention.check.interval.ms": "1000"}
LONGEST, UUID = 32_767, 37
LAST, FIRST = (1 << 63) - 1, -(1 << 63)
Scripts = Iterator[tuple[str, tuple[Step, ...]]]


def cases() -> Iterator[Case]:
    for name, steps in (*retention_times(), *names(), *refusals(), *texts(), *regexes()):
        yield Case(f"extremes.{name}", TOPICS, steps)


def retention_times() -> Scripts:
    """A sum of two times that no 64 bits can hold is a time long ago, in Java."""
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
            member = Classic(f"extremes.client.{length}.{version}", "m")
            yield f"client.{length}.v{version}", (member.join("", version=version)._replace(client_id="c" * length),)
    for length in (250, LONGEST - UUID, LONGEST - UUID + 1, LONGEST):
        yield f"instance.{length}", (Classic(f"extremes.instance.{length}", "m", "i" * length).join(""),)
    group = "g" * LONGEST
    member = Classic(group, "m")
    yield "group", (member.join(""), member.heartbeat(1), commit(group), describe(group), fetch_offsets(group), delete_groups(group))
    yield "group.missing", (describe(group), describe_consumers(group), Modern(group, "m").beat(1), delete_groups(group))
    for length in (20_000, LONGEST):
        modern = Modern(f"extremes.member.{length}", "m" * length)
        yield f"member.{length}", (modern.beat(1), modern.join(), modern.beat(5), modern.leave(), modern.beat(2))


def refusals() -> Scripts:
    group = "extremes.refusals"
    yield "metadata", (commit(group, metadata="m" * 4097), describe(group), fetch_offsets(group))


def texts() -> Scripts:
    for version in (7, 8):
        yield f"utf-8.v{version}", (_with_bad_text(commit("QQQQ", version=version).payload, version),)


def _with_bad_text(request: Any, version: int) -> Raw:
    assert isinstance(request, Message)
    frame = b"".join(encode_request(OFFSET_COMMIT, version, CORRELATION_ID, "test", request))
    return Raw(frame.replace(b"QQQQ", b"Q\xff\xfeQ"))


def regexes() -> Scripts:
    """A member changes its pattern to one that matches nothing: what it gives up, the other one reads as well."""
    a, b = (Modern("extremes.regex", name) for name in "ab")
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


def _by_regex(member: Modern, regex: str) -> Ask:
    return member.beat(0, rebalance_timeout_ms=LONG_MS, subscribed_topic_regex=regex, owned={})
