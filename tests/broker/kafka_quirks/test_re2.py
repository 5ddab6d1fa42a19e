"""Regular expressions of RE2, compared with Python's `re` where both accept an expression."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.kafka_quirks.re2 import MAX_STATES, InvalidRegularExpression, Regex

ATOMS = [
    "a",
    "b",
    ".",
    "[ab]",
    "[^a]",
    "(?:a|b)",
    "(ab)",
    r"\w",
    r"\d",
    r"\D",
    "(a|)",
    "^",
    "$",
    r"\b",
    "[a-c-]",
    "[]a]",
    r"\.",
    "-",
    r"\x61",
]
REPEATS = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{1,}", "*?", "+?"]
parts = st.builds(
    lambda atom, repeat: atom + ("" if atom in ("^", "$", r"\b") else repeat), st.sampled_from(ATOMS), st.sampled_from(REPEATS)
)
sequences = st.lists(parts, max_size=5).map("".join)
expressions = st.lists(sequences, min_size=1, max_size=3).map("|".join)


@given(expressions, st.text("abcA.x-_1", max_size=7))
def test_match_agrees_with_python(text: str, name: str) -> None:
    assert Regex(text).matches(name) == bool(re.fullmatch(text, name))


@pytest.mark.parametrize(
    ("text", "name", "matches"),
    [
        (r"\Qa.b\E", "a.b", True),
        (r"\Qa.b\E", "axb", False),
        (r"\Qab\E+", "abb", True),
        ("(?i)orders", "ORDERS", True),
        ("(?i:o)rders", "ORDERS", False),
        ("((?i)a)b", "AB", False),
        ("(?i)[a-c]", "B", True),
        ("(?i-i)a", "A", False),
        ("[[:alpha:]]+", "aZ", True),
        ("[[:^digit:]]", "1", False),
        (r"[\d.]+", "1.2", True),
        (r"\pL+", "ab", True),
        (r"\p{^Lu}", "A", False),
        (r"\PN", "1", False),
        (r"\p{Latin}+", "aZ", True),
        (r"\p{Latin}", "1", False),
        (r"\p{Common}+", "1_.-", True),
        (r"\p{Greek}", "a", False),
        (r"\P{Greek}\p{^Han}", "a1", True),
        (r"\p{Pd}\p{Pc}\p{Any}", "-_.", True),
        (r"(?i)\p{Lu}", "a", True),
        (r"(?i)\p{Ll}", "A", False),
        (r"\x{61}\141\055", "aa-", True),
        (r"\Aa\z", "a", True),
        ("(?P<n>a)(?<m>b)", "ab", True),
        ("(?s).", "\n", True),
        (".", "\n", False),
        ("(?m)a$\n^b", "a\nb", True),
        ("a{,2}", "a{,2}", True),
        ("a{0}b", "b", True),
        (r"\Bb", "b", False),
        ("", "", True),
    ],
)
def test_match_of_re2_syntax(text: str, name: str, matches: bool) -> None:
    assert Regex(text).matches(name) == matches


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(", "missing closing )"),
        (")", "regexp/syntax: internal error"),
        ("[", "missing closing ]"),
        ("[b-a]", "invalid character class range"),
        (r"[a-\d]", "invalid character class range"),
        ("[[:nope:]]", "invalid character class range"),
        (r"\p{Nope}", "invalid character class range"),
        (r"\p{greek}", "invalid character class range"),
        ("*", "missing argument to repetition operator"),
        ("a**", "invalid nested repetition operator"),
        ("a{1001}", "invalid repeat count"),
        ("a{2,1}", "invalid repeat count"),
        ("(?=a)", "invalid or unsupported Perl syntax"),
        ("(?<!a)", "invalid or unsupported Perl syntax"),
        ("(?x)a", "invalid or unsupported Perl syntax"),
        ("(?", "invalid or unsupported Perl syntax"),
        ("(?P<a-b>x)", "invalid named capture"),
        (r"(a)\1", "invalid escape sequence"),
        (r"\xg", "invalid escape sequence"),
        (r"\x{110000}", "invalid escape sequence"),
        (r"\y", "invalid escape sequence"),
        ("\\", "trailing backslash at end of expression"),
        ("((a{100}){100}){100}", "expression too large"),
        ("(" * 200 + ")" * 200, "expression nests too deeply"),
    ],
)
def test_invalid_expression_raises_with_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidRegularExpression, match=re.escape(reason)):
        Regex(text)


def test_match_of_nested_repetitions_is_linear() -> None:
    """Python's `re` takes exponential time for this expression."""
    assert not Regex("(a*)*(a*)*(a+)+b").matches("a" * 249)


@pytest.mark.parametrize(
    "text", ["(?:(?:(?:){1000}){1000}){50}", "(?:(?:){1000}){1000}", "(?:" + "|" * 30_000 + "){1000}", r"(?:\Q\E{1000}){1000}"]
)
def test_repetitions_without_states_are_refused(text: str) -> None:
    with pytest.raises(InvalidRegularExpression):
        Regex(text)


def test_match_of_expensive_expression_yields_steps() -> None:
    expensive = Regex("(?:t.*)(?:.*a.*){500}").match("ta" * 20)
    visits = list(expensive)
    assert len(visits) == 40, "one for each character"
    assert max(visits) <= MAX_STATES
