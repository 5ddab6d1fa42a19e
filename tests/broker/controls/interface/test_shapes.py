"""Conversion of JSON and text into the types of parameters, and the schemas of these types."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from odradek.broker.control_errors import InvalidControl
from odradek.broker.controls.interface.shapes import Schema, parse_json
from odradek.broker.controls.interface.signatures import shape_of
from odradek.broker.controls.new_records import NewRecord
from odradek.broker.controls.parameters import Duration


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(TypedDict):
    """A point."""

    x: int
    label: NotRequired[str]


ITEMS = Sequence[NewRecord | bytes | str | tuple[bytes, bytes] | None]


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (bool, True, True),
        (int, -5, -5),
        (int, 5.0, 5),
        (int, -(2**63), -(2**63)),
        (float, 5, 5),
        (float, 0.5, 0.5),
        (str, "ü\0", "ü\0"),
        (bytes, "ü", "ü".encode()),
        (bytes | str, {"base64": "/w=="}, b"\xff"),
        (datetime, "2026-01-31T12:00:00Z", datetime(2026, 1, 31, 12, tzinfo=UTC)),
        (datetime, "2026-01-31T12:00+02:00", datetime(2026, 1, 31, 12, tzinfo=timezone(timedelta(hours=2)))),
        (Duration, "10m", timedelta(minutes=10)),
        (Duration | None, 0.5, timedelta(seconds=0.5)),
        (Duration | None, None, None),
        (Path, "a/b", Path("a/b")),
        (str | os.PathLike[str], "a/b", Path("a/b")),
        (Literal["fin", "rst"], "rst", "rst"),
        (Literal[0, 1, -1], -1, -1),
        (Colour, "red", "red"),
        (list[int], [1, 2], [1, 2]),
        (str | Sequence[str], ["a"], ["a"]),
        (int | Callable[[], int], 4, 4),
        (tuple[int, str], [1, "a"], (1, "a")),
        (tuple[int, ...], [1, 2, 3], [1, 2, 3]),
        (Mapping[str, int | str], {"a": 1, "b": "c"}, {"a": 1, "b": "c"}),
        (Point, {"x": 1}, {"x": 1}),
        (Any, {"a": [None]}, {"a": [None]}),
        (
            Annotated[ITEMS, "help"],
            ["a", None, ["k", "v"], {"value": "v", "headers": {"h": "w"}}, {"headers": [["h", {"base64": ""}]]}],
            [b"a", None, (b"k", b"v"), {"value": b"v", "headers": {"h": b"w"}}, {"headers": [(b"h".decode(), b"")]}],
        ),
    ],
)
def test_json_becomes_the_python_value(annotation: Any, value: Any, expected: Any) -> None:
    converted = shape_of(annotation).of_json("p", value)
    assert (converted, type(converted)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (bool, 1, "p: must be true or false, not 1"),
        (int, True, "p: must be an integer, not true"),
        (int, "5", "p: must be an integer, not '5'"),
        (int, 0.5, "p: must be an integer, not 0.5"),
        (int, 2**63, "p: must be an integer of 64 bits, not 9223372036854775808"),
        (float, False, "p: must be a number, not false"),
        (float, 10**400, "p: must be a number, not 1000"),
        (str, 5, "p: must be text, not 5"),
        (str, None, "p: must be text, not null"),
        (bytes, {"base64": "?"}, "p: invalid base64: "),
        (bytes, {"base64": 5}, 'p: must be text or {"base64": "..."}, not {"base64": 5}'),
        (datetime, "yesterday", "p: must be a time in ISO 8601, such as 2026-01-31T12:00:00Z, not 'yesterday'"),
        (Duration, "10 parsecs", "p: invalid duration '10 parsecs'; use a number with ms, s, m, h, d, w, such as 10m"),
        (Duration, -1, "p: a duration must not be negative or infinite, but it is -1"),
        (Duration, 1e300, "p: must be a duration of at most 999999999 days, not 1e+300"),
        (Duration, True, "p: must be a duration, such as 10m, 500ms or a number of seconds, not true"),
        (Path, "", "p: must be the path of a file, not ''"),
        (Path, "a\0b", "p: must be the path of a file, not 'a\\x00b'"),
        (Literal["before", "after"], "befor", "p: there is no 'befor'; did you mean 'before'?"),
        (Literal["before", "after"], "x", "p: must be one of before, after, not 'x'"),
        (Literal["before", "after"], 5, "p: must be one of before, after, not 5"),
        (list[int], 5, "p: must be a list, not 5"),
        (list[int], [1, "x"], "p[1]: must be an integer, not 'x'"),
        (str | Sequence[str], 5, "p: must be text or a list, not 5"),
        (tuple[int, str], [1], "p: must be a list of 2 values, not [1]"),
        (Mapping[str, int], {"a": "b"}, "p.a: must be an integer, not 'b'"),
        (Mapping[str, int], [], "p: must be an object, not []"),
        (Point, {"x": 1, "lable": ""}, "p: there is no field 'lable'; did you mean 'label'?"),
        (Point, {}, "p.x: is required"),
        (ITEMS, [{"valeu": "x"}], "p[0]: there is no field 'valeu'; did you mean 'value'?"),
        (ITEMS, [True], "p[0]: must be an object with "),
        (str, ["x" * 100] * 11, "p: must be text, not a list of 11"),
        (int, "x" * 1000, f"p: must be an integer, not '{'x' * 79}..."),
    ],
)
def test_json_of_another_type_is_refused(annotation: Any, value: Any, message: str) -> None:
    with pytest.raises(InvalidControl) as raised:
        shape_of(annotation).of_json("p", value)
    assert str(raised.value).startswith(message)
    assert raised.value.parameter == "p"


@pytest.mark.parametrize(
    ("annotation", "texts", "expected"),
    [
        (bool, ["True"], True),
        (int, ["+5"], 5),
        (int | str, ["5"], 5),
        (int | str, ["5x"], "5x"),
        (float, ["1e3"], 1000.0),
        (str | None, ["null"], "null"),
        (datetime | int, ["1795339241379"], 1795339241379),
        (Duration | None, ["10"], timedelta(seconds=10)),
        (bool | Literal["closed"], ["closed"], "closed"),
        (str | Sequence[str], ["a"], "a"),
        (str | Sequence[str], ["a", "b"], ["a", "b"]),
        (Sequence[int] | None, ["1"], [1]),
        (Mapping[str, int | str] | None, ["a=1", "b=c=d"], {"a": 1, "b": "c=d"}),
        (Mapping[str, Any], ['{"a": [1]}', "b=[2]", "c=x"], {"a": [1], "b": [2], "c": "x"}),
        (Any, ["x"], "x"),
        (ITEMS, ["a", '{"key": "k"}', '["k", "v"]'], [b"a", {"key": b"k"}, (b"k", b"v")]),
    ],
)
def test_texts_become_the_python_value(annotation: Any, texts: list[str], expected: Any) -> None:
    assert shape_of(annotation).of_texts("p", texts) == expected


@pytest.mark.parametrize(
    ("name", "annotation", "texts", "message"),
    [
        ("p", int, ["1", "2"], "p: is given twice"),
        ("p", int, ["1" * 30], "p: must be an integer, not '1111"),
        ("p", int, ["٣"], "p: must be an integer, not '٣'"),
        ("p", bool, ["yes"], "p: must be true or false, not 'yes'"),
        ("p", float, ["nan"], "p: must be a number, not 'nan'"),
        ("timeout_s", float, ["500ms"], "timeout_s: must be a number, not '500ms'; the unit is s, so write 0.5"),
        ("delay_ms", int | None, ["10s"], "delay_ms: must be an integer, not '10s'; the unit is ms, so write 10000"),
        ("delay_ms", int, ["10x"], "delay_ms: must be an integer, not '10x'"),
        ("p", Mapping[str, int], ["a"], "p: must be name=value or a JSON object, not 'a'"),
        ("p", Mapping[str, int], ["a=1", "a=2"], "p: 'a' is given twice"),
        ("p", Mapping[str, int], ["{"], "p: must be JSON for an object: "),
        ("p", Sequence[int], ["1", "x"], "p[1]: must be an integer, not 'x'"),
        ("p", ITEMS, ['{"valeu": "x"}'], "p: there is no field 'valeu'; did you mean 'value'?"),
        ("p", int | Literal["preferred"], ["unclean"], "p: must be an integer or one of preferred, not 'unclean'"),
    ],
)
def test_texts_of_another_type_are_refused(name: str, annotation: Any, texts: list[str], message: str) -> None:
    with pytest.raises(InvalidControl) as raised:
        shape_of(annotation).of_texts(name, texts)
    assert str(raised.value).startswith(message)
    assert raised.value.parameter == name


@pytest.mark.parametrize("annotation", [Callable[[], int], Callable[[], int] | None, object | type[int], re.Pattern])
def test_type_that_json_lacks_is_refused(annotation: Any) -> None:
    if annotation == object | type[int]:
        assert shape_of(annotation).of_json("p", 1) == 1
        return
    with pytest.raises(TypeError, match="declare the parameter with PythonOnly"):
        shape_of(annotation)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "must be JSON: "),
        (b"\xff", "must be JSON: "),
        (b"NaN", "must be JSON: NaN is not a finite number"),
        (b"1e400", "must be JSON: 1e400 is not a finite number"),
        (b"1" * 5000, "must be JSON: "),
        (b'{"a": 1, "b": 2, "a": 3}', "must be JSON: 'a' is given twice"),
        (b'["\\ud800"]', "must be JSON: half of a surrogate pair"),
        (b'{"\\ud800": 1}', "must be JSON: half of a surrogate pair"),
        (b"[" * 100_000, "is nested too deeply"),
    ],
)
def test_text_that_is_not_json_is_refused(text: bytes, message: str) -> None:
    with pytest.raises(InvalidControl, match=re.escape(message)):
        parse_json("p", text)


_NUMBERS = st.integers(-(2**53), 2**53) | st.floats(-1e307, 1e307)  # numbers of 1e308 and more are refused
_LEAVES = st.none() | st.booleans() | _NUMBERS | st.sampled_from(["", "a", "red", "rst", "/w==", "x=1"])
_NAMES = st.sampled_from(["x", "label", "value", "base64", "headers", "key", "other"])
_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3))
_TYPES: list[Any] = [
    bool, int, float, str | None, bytes, Literal["fin", "rst"], Colour, list[int], str | Sequence[str], tuple[int, str],
    Mapping[str, int | None], Point, Any,
]  # fmt: skip


@pytest.mark.parametrize("annotation", _TYPES, ids=str)
@given(value=_VALUES)
def test_value_is_accepted_if_its_schema_accepts_it(annotation: Any, value: Any) -> None:
    """The OpenAPI document promises exactly the values that the listener accepts, except for the contents of base64."""
    definitions: dict[str, Schema] = {}
    shape = shape_of(annotation)
    schema = {**shape.schema(definitions), "components": {"schemas": definitions}}
    valid = Draft202012Validator(schema).is_valid(value)
    try:
        shape.of_json("p", json.loads(json.dumps(value)))
    except InvalidControl as error:
        assert not valid or "base64" in str(error)
    else:
        assert valid
