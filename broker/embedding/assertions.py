"""`assert_records` compares the records of a topic with those that a test expects, and shows the difference line by line.
`assert_committed` compares a committed offset.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import ndiff
from typing import Any, NamedTuple

from ..control_errors import InvalidControl
from ..controls.group_info import GroupInfo
from ..controls.groups import committed_offset
from ..plurals import counted
from .group import Group
from .topic import Topic, TopicRecord

FIELDS = ("partition", "offset", "timestamp", "key", "value", "headers", "transaction")
MAX_CHARACTERS = 1000


class ExpectedRecord(NamedTuple):
    """The fields of a record that a test compares, by name."""

    fields: Mapping[str, Any]


def record(**fields: Any) -> ExpectedRecord:
    """Returns an expected record of which the given fields are compared, such as `record(value="paid", headers={"trace": b"1"})`.

    Raises TypeError for a name that is not a field of a record.
    """
    for name in fields:
        if name not in FIELDS:
            raise TypeError(f"a record has no field {name!r}; the fields are {', '.join(FIELDS)}")
    return ExpectedRecord(fields)


def assert_records(topic: Topic | Sequence[TopicRecord], expected: Iterable[Any], *, ignore_order: bool = False) -> None:
    """Raises AssertionError unless the topic has exactly the expected records, in the order of partitions and offsets.

    An expected record is a value, a pair of key and value, or `record(...)`. `topic` is a handle, or records that a handle has returned; of
    a handle, records of open and aborted transactions do not count. With `ignore_order` the order does not matter.
    """
    if isinstance(topic, str):
        raise TypeError(f"topic must be a handle, such as cluster.topic({topic!r}), or records that one has returned")
    if isinstance(topic, Topic):
        name = f"topic {topic.name}"
        found = [each for each in topic.records() if each.transaction in (None, "committed")]
    else:
        name, found = "the records", list(topic)
    wanted = [_expected_record(each) for each in expected]
    unmatched = _missing_records(found, wanted, ignore_order=ignore_order)
    if unmatched is None:
        return
    shown = list(unmatched)
    names = dict.fromkeys(name for each in wanted for name in each.fields) or {"value": None}
    ours = [_line({name: _field(each, name) for name in names}) for each in found]
    theirs = [_line(each.fields) for each in wanted]
    if ignore_order:
        ours, theirs = sorted(ours), sorted(theirs)
    difference = "\n".join(f"  {line.rstrip()}" for line in ndiff(theirs, ours) if not line.startswith("?"))
    counts = f"expected {counted(len(wanted), 'record')} and found {len(found)}"
    summary = f"{name}: {counts}; {len(shown)} expected record{'s are' if len(shown) != 1 else ' is'} missing"
    raise AssertionError(f"{summary} (- expected, + found)\n{difference}")


def assert_committed(group: Group | GroupInfo, topic: str, offset: int | None, *, partition: int | None = None) -> None:
    """Raises AssertionError unless a group has committed this offset in a topic. It is the offset of the next record to read.

    None stands for no committed offset, also if the group does not exist. `group` is a handle, or the result of its `info`. Raises
    InvalidControl if the topic has several partitions and `partition` names none.
    """
    try:
        found = group.info() if isinstance(group, Group) else group
    except InvalidControl as error:
        if offset is None:
            return
        raise AssertionError(str(error)) from None
    committed = committed_offset(found, topic, partition)
    if committed != offset:
        place = topic if partition is None else f"{topic}-{partition}"
        others = ", ".join(f"{each.topic}-{each.partition} {_offset(each.committed)}" for each in found.offsets)
        difference = f"expected {_offset(offset)} in {place} and found {_offset(committed)}"
        raise AssertionError(f"group {found.group_id}: {difference}; all its offsets: {others or 'none'}")


def _offset(committed: int | None) -> str:
    return "nothing committed" if committed is None else f"offset {committed}"


def _expected_record(value: Any) -> ExpectedRecord:
    if isinstance(value, ExpectedRecord):
        return value
    if isinstance(value, tuple) and len(value) == 2:
        return record(key=value[0], value=value[1])
    return record(value=value)


def _missing_records(found: Sequence[TopicRecord], wanted: Sequence[ExpectedRecord], *, ignore_order: bool) -> list[ExpectedRecord] | None:
    """Returns the expected records that were not found, None if all records are as expected."""
    if not ignore_order:
        missing = [each for number, each in enumerate(wanted) if number >= len(found) or not _equal(found[number], each)]
        return missing if missing or len(found) != len(wanted) else None
    rest, missing = list(found), []
    for each in wanted:
        match = next((number for number, candidate in enumerate(rest) if _equal(candidate, each)), None)
        if match is None:
            missing.append(each)
        else:
            del rest[match]
    return missing if missing or rest else None


def _equal(found: TopicRecord, wanted: ExpectedRecord) -> bool:
    return all(_field(found, name) == _comparable(name, value) for name, value in wanted.fields.items())


def _field(found: TopicRecord, name: str) -> Any:
    return _comparable(name, getattr(found, name))


def _comparable(name: str, value: Any) -> Any:
    """Returns headers as a list of pairs with bytes; text stands for its UTF-8. Other values are returned as they are."""
    if name != "headers":
        return value
    pairs = value.items() if isinstance(value, Mapping) else value
    return [(header, each.encode() if isinstance(each, str) else each) for header, each in pairs]


def _line(fields: Mapping[str, Any]) -> str:
    text = ", ".join(f"{name}={_comparable(name, value)!r}" for name, value in fields.items())
    return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}... ({len(text)} characters)"
