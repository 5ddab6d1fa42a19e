from typing import Any

import pytest

from odradek.broker.schema_registry.schemas.json_text import is_longer, read_json, write_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (-1.5e300, "-1.5E300"),
        (float("inf"), '"Infinity"'),
        (float("-inf"), '"-Infinity"'),
        (float("nan"), '"NaN"'),
        (2**70, str(2**70)),
        ({"a": [None, True, False]}, '{"a":[null,true,false]}'),
        ('\x1f\n"\\é\x7f', '"\\u001F\\n\\"\\\\é\x7f"'),
    ],
)
def test_written_json_is_that_of_jackson(value: Any, text: str) -> None:
    assert write_json(value) == text


@pytest.mark.parametrize("value", ["x" * 1000, ["x"] * 1000, {"x" * 1000: None}, [[[{"a": [1] * 1000}]]], {"a": {"b": "x" * 1000}}])
def test_length_of_json_is_known_before_it_is_written(value: Any) -> None:
    assert is_longer(value, 900) and not is_longer(value, 10_000)


def test_last_of_two_equal_keys_is_read() -> None:
    assert read_json('{"a": 1, "b": 2, "a": 3}') == {"a": 3, "b": 2}


def test_escaped_pair_of_surrogates_is_one_character() -> None:
    assert read_json('"\\ud83d\\ude00"') == "😀"
