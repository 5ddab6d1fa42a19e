r"""Regular expressions with the syntax of RE2/J, for subscriptions to topics (KIP-848) and ListTransactions (KIP-1152).

Python's `re` cannot be used: it accepts expressions that RE2 rejects, such as look-around and backreferences, and it backtracks, so that a
client could block the broker with one expression. Here an expression is compiled to a nondeterministic automaton (Thompson's construction)
and simulated in time linear in the length of the name. All of RE2's syntax is supported except `\C`.

The package google-re2 does not replace this module, because it follows RE2 in C++ and not RE2/J: it accepts `\\C` and scripts that RE2/J
1.8 does not know, limits the size of expressions in another way, and has other messages. It is also compiled.

`_Parser` is a recursive-descent parser. Each of its grammar methods returns a `Build`: a function that adds the states of its part in front
of a given state. Building backwards in this way means that each state's successors exist before the state itself, except for loops, whose
first state is replaced once its successors are known. A repetition calls the `Build` of its part several times, so `x{1000}` has a thousand
copies of the states of `x`; `MAX_STATES` and `MAX_STEPS` limit the size of the result.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple

MAX_REPEAT = 1000
MAX_STATES = 5_000
MAX_STEPS = 20_000
MAX_DEPTH = 100
"""Limits of the cost of one expression. A step is one part of a sequence being built, whether or not it adds states."""

Test = Callable[[str], bool]
WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
CLASSES: dict[str, Test] = {
    "d": lambda char: "0" <= char <= "9",
    "s": lambda char: char in "\t\n\f\r ",
    "w": lambda char: char in WORD,
}
POSIX: dict[str, Test] = {
    "alnum": lambda char: char in WORD and char != "_",
    "alpha": lambda char: char.isascii() and char.isalpha(),
    "ascii": str.isascii,
    "blank": lambda char: char in "\t ",
    "cntrl": lambda char: char < " " or char == "\x7f",
    "digit": CLASSES["d"],
    "graph": lambda char: "!" <= char <= "~",
    "lower": lambda char: "a" <= char <= "z",
    "print": lambda char: " " <= char <= "~",
    "punct": lambda char: "!" <= char <= "~" and not (char in WORD and char != "_"),
    "space": lambda char: char in "\t\n\v\f\r ",
    "upper": lambda char: "A" <= char <= "Z",
    "word": CLASSES["w"],
    "xdigit": lambda char: char in "0123456789abcdefABCDEF",
}
CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}


class InvalidRegularExpression(ValueError):
    """The text is not a valid regular expression. The messages resemble those of RE2/J."""


class AutomatonState(NamedTuple):
    """A state of the automaton.

    With `test` it consumes a character that passes the test. With `at` it is an assertion about a position, such as `^`. With neither it
    leads to all states in `following`, without consuming a character.
    """

    test: Test | None
    at: Callable[[str, int], bool] | None
    following: tuple[int, ...]


Build = Callable[[int], int]
"""Adds the states of a part in front of the given state, and returns the first of them."""


class Regex:
    """A compiled expression, which must match a whole name. The constructor raises InvalidRegularExpression."""

    def __init__(self, text: str) -> None:
        self._states: list[AutomatonState] = [AutomatonState(None, None, ())]
        self._start = _Parser(text, self._states).parse()(0)

    def matches(self, name: str) -> bool:
        """Returns whether the expression matches the whole name."""
        matching = self.match(name)
        while True:
            try:
                next(matching)
            except StopIteration as done:
                return bool(done.value)

    def match(self, name: str) -> Generator[int, None, bool]:
        """Matches the whole name in steps, and returns whether it matches. Yields the number of visited states before each character."""
        current = self._closure([self._start], name, 0)
        for position, char in enumerate(name):
            yield 1 + len(current)
            steps = [state.following[0] for state in map(self._states.__getitem__, current) if state.test is not None and state.test(char)]
            current = self._closure(steps, name, position + 1)
        return 0 in current

    def _closure(self, pending: list[int], name: str, position: int) -> set[int]:
        """Returns all states that can be reached without consuming a character. Empties `pending`."""
        reached: set[int] = set()
        while pending:
            index = pending.pop()
            state = self._states[index]
            if index not in reached:
                reached.add(index)
                if state.test is None and (state.at is None or state.at(name, position)):
                    pending += state.following
        return reached


class _Parser:
    """Parses one expression and adds its states to `states`."""

    def __init__(self, text: str, states: list[AutomatonState]) -> None:
        self.text, self.position, self.states = text, 0, states
        self.flags: frozenset[str] = frozenset()
        self.depth = self.steps = 0

    def parse(self) -> Build:
        build = self._alternatives()
        if self.position < len(self.text):
            raise InvalidRegularExpression("regexp/syntax: internal error")
        return build

    # Grammar: alternatives, sequences, repetitions, atoms and groups.

    def _alternatives(self) -> Build:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else lambda after: self._add(None, None, *(option(after) for option in options))

    def _sequence(self) -> Build:
        parts: list[Build] = []
        while self.position < len(self.text) and self.text[self.position] not in "|)":
            if self._take("\\Q"):
                literal, _, rest = self.text[self.position :].partition("\\E")
                self.position = len(self.text) - len(rest)
                quoted = [self._char(self._literal(char)) for char in literal]
                parts += [*quoted[:-1], *map(self._repetition, quoted[-1:])]
            else:
                parts.append(self._repetition(self._atom()))
        return lambda after: self._chain(parts, after)

    def _repetition(self, part: Build) -> Build:
        bounds = self._bounds()
        if bounds is None:
            return part
        self._take("?")  # A lazy repetition matches the same names as a greedy one.
        if self._bounds() is not None:
            raise InvalidRegularExpression("invalid nested repetition operator")
        low, high = bounds
        if low > MAX_REPEAT or (high is not None and (high > MAX_REPEAT or high < low)):
            raise InvalidRegularExpression("invalid repeat count")
        return lambda after: self._repeat(part, low, high, after)

    def _bounds(self) -> tuple[int, int | None] | None:
        for operator, bounds in REPEATS.items():
            if self._take(operator):
                return bounds
        inside, closed, _ = self.text[self.position + 1 :].partition("}")
        low, comma, high = inside.partition(",")
        if not self.text.startswith("{", self.position) or not closed or not low.isdecimal() or not (high or "0").isdecimal():
            return None
        self.position += len(inside) + 2
        return int(low[:6]), int(high[:6]) if high else None if comma else int(low[:6])

    def _repeat(self, part: Build, low: int, high: int | None, after: int) -> int:
        if high is None:
            loop = self._add(None, None)
            inner = part(loop)
            self.states[loop] = AutomatonState(None, None, (inner, after))
            after = loop if low == 0 else inner
        else:
            for _ in range(high - low):
                after = self._add(None, None, part(after), after)
        return self._chain([part] * (low - (high is None and low > 0)), after)

    def _atom(self) -> Build:
        char = self.text[self.position]
        if char == "(":
            return self._group()
        if char == "[":
            return self._char(self._set())
        self.position += 1
        if char in "*+?":
            raise InvalidRegularExpression("missing argument to repetition operator")
        if char == "\\":
            return self._escape()
        if char == ".":
            return self._char((lambda _: True) if "s" in self.flags else (lambda char: char != "\n"))
        if char in "^$":
            begins, lines = char == "^", "m" in self.flags
            return self._assertion(lambda name, at: at == (0 if begins else len(name)) or (lines and name[at - begins] == "\n"))
        return self._char(self._literal(char))

    def _group(self) -> Build:
        flags = self.flags
        self.position += 1
        if self._take("?") and not self._begin_special_group():
            return lambda after: after
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise InvalidRegularExpression("expression nests too deeply")
        build = self._alternatives()
        self.depth -= 1
        if not self._take(")"):
            raise InvalidRegularExpression("missing closing )")
        self.flags = flags
        return build

    def _begin_special_group(self) -> bool:
        """Parses the name or the flags after `(?`. Returns False for flags without a group, as in `(?i)`, which apply to the rest."""
        rest = self.text[self.position :]
        named = rest.removeprefix("P")
        if named.startswith("<") and not named.startswith(("<=", "<!")):
            name, closed, _ = named[1:].partition(">")
            if not closed or not name.isidentifier() or not name.isascii():
                raise InvalidRegularExpression("invalid named capture")
            self.position += rest.index(">") + 1
            return True
        end = next((index for index, char in enumerate(rest) if char in ":)"), None)
        on, minus, off = rest[:end].partition("-")
        if end is None or not set(on + off) <= set("imsU") or (minus and not off):
            raise InvalidRegularExpression("invalid or unsupported Perl syntax")
        self.flags = (self.flags | set(on)) - set(off)
        self.position += end + 1
        return rest[end] == ":"

    # Characters: escapes, classes and ranges.

    def _escape(self) -> Build:
        following = self.text[self.position : self.position + 1]
        if following in ("b", "B"):
            self.position += 1
            return self._assertion(lambda name, at: _is_boundary(name, at) == (following == "b"))
        if following in ("A", "z"):
            self.position += 1
            return self._assertion(lambda name, at: at == (0 if following == "A" else len(name)))
        return self._char(self._escape_test())

    def _escape_test(self) -> Test:
        """Parses the rest of an escape, inside or outside a class."""
        char = self.text[self.position : self.position + 1]
        if not char:
            raise InvalidRegularExpression("trailing backslash at end of expression")
        self.position += 1
        if char.lower() in CLASSES:
            return _negate(CLASSES[char.lower()], char.isupper())
        if char in "pP":
            return self._category(char == "P")
        if char in CONTROLS:
            return self._literal(CONTROLS[char])
        if char == "x":
            return self._literal(self._hexadecimal())
        if char == "0" or (char in "1234567" and self.text[self.position : self.position + 1] in tuple("01234567")):
            digits = char
            while len(digits) < 3 and self.text[self.position : self.position + 1] in tuple("01234567"):
                digits += self.text[self.position]
                self.position += 1
            return self._literal(chr(int(digits, 8)))
        if char in WORD:
            raise InvalidRegularExpression("invalid escape sequence")
        return self._literal(char)

    def _hexadecimal(self) -> str:
        rest = self.text[self.position :]
        digits = rest[1:].partition("}")[0] if rest.startswith("{") else rest[:2]
        self.position += len(digits) + 2 * rest.startswith("{")
        try:
            return chr(int(digits, 16)) if digits.isalnum() and (len(digits) == 2 or rest.startswith("{")) else chr(-1)
        except (ValueError, OverflowError):
            raise InvalidRegularExpression("invalid escape sequence") from None

    def _category(self, negated: bool) -> Test:
        rest = self.text[self.position :]
        name = rest[1:].partition("}")[0] if rest.startswith("{") else rest[:1]
        self.position += len(name) + 2 * rest.startswith("{")
        negated ^= name.startswith("^")
        known = name.removeprefix("^")
        if known != "Any" and known not in CATEGORIES | SCRIPTS:
            raise InvalidRegularExpression("invalid character class range")
        if known == "Lu" and "i" in self.flags:
            known = "L"  # In RE2/J, \p{Lu} with the flag `i` matches lower case as well, but \p{Ll} does not match upper case.
        return _negate(lambda char: belongs_to(char, known), negated)

    def _set(self) -> Test:
        self.position += 1
        negated = self._take("^")
        tests: list[Test] = []
        while not tests or not self._take("]"):
            if self.position >= len(self.text):
                raise InvalidRegularExpression("missing closing ]")
            tests.append(self._posix() or self._range())
        return _negate(lambda char: any(test(char) for test in tests), negated)

    def _posix(self) -> Test | None:
        name, closed, _ = self.text[self.position + 2 :].partition(":]")
        if not self.text.startswith("[:", self.position) or not closed:
            return None
        if name.removeprefix("^") not in POSIX:
            raise InvalidRegularExpression("invalid character class range")
        self.position += len(name) + 4
        return _negate(POSIX[name.removeprefix("^")], name.startswith("^"))

    def _range(self) -> Test:
        low = self._member()
        if not self.text.startswith("-", self.position) or self.text[self.position + 1 : self.position + 2] in ("]", ""):
            return self._literal(low) if isinstance(low, str) else low
        self.position += 1
        high = self._member()
        if not isinstance(low, str) or not isinstance(high, str) or low > high:
            raise InvalidRegularExpression("invalid character class range")
        if "i" in self.flags:
            return lambda char: any(low <= each <= high for each in (char, char.lower(), char.upper()))
        return lambda char: low <= char <= high

    def _member(self) -> str | Test:
        """Parses one element of a class: a character, or the test of an escape that stands for several characters."""
        char = self.text[self.position : self.position + 1]
        self.position += 1
        if char != "\\":
            return char
        start = self.position
        test = self._escape_test()
        matching = [each for each in map(chr, range(128)) if test(each)]
        is_single = len(matching) == 1 or self.text[start : start + 1] in tuple("x01234567")
        return matching[0] if is_single and matching and "i" not in self.flags else test

    # States of the automaton.

    def _literal(self, char: str) -> Test:
        if "i" in self.flags:
            return lambda other: other.lower() == char.lower()
        return char.__eq__

    def _char(self, test: Test) -> Build:
        return lambda after: self._add(test, None, after)

    def _assertion(self, at: Callable[[str, int], bool]) -> Build:
        return lambda after: self._add(None, at, after)

    def _add(self, test: Test | None, at: Callable[[str, int], bool] | None, *following: int) -> int:
        if len(self.states) >= MAX_STATES:
            raise InvalidRegularExpression("expression too large")
        self.states.append(AutomatonState(test, at, following))
        return len(self.states) - 1

    def _chain(self, parts: Sequence[Build], after: int) -> int:
        self.steps += 1 + len(parts)
        if self.steps > MAX_STEPS:
            raise InvalidRegularExpression("expression too large")
        for part in reversed(parts):
            after = part(after)
        return after

    def _take(self, token: str) -> bool:
        found = self.text.startswith(token, self.position)
        self.position += len(token) * found
        return found


def _negate(test: Test, negated: bool) -> Test:
    return (lambda char: not test(char)) if negated else test


def _is_boundary(name: str, at: int) -> bool:
    return (at > 0 and name[at - 1] in WORD) != (at < len(name) and name[at] in WORD)


_CATEGORIES = "C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs"
_SCRIPTS = """
    Arabic Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Cham Cherokee
    Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari Egyptian_Hieroglyphs Ethiopic Georgian Glagolitic Gothic Greek Gujarati
    Gurmukhi Han Hangul Hanunoo Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi
    Kannada Katakana Kayah_Li Kharoshthi Khmer Lao Latin Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic Meetei_Mayek Mongolian
    Myanmar New_Tai_Lue Nko Ogham Ol_Chiki Old_Italic Old_Persian Old_South_Arabian Old_Turkic Oriya Osmanya Phags_Pa Phoenician Rejang
    Runic Samaritan Saurashtra Shavian Sinhala Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil Telugu Thaana
    Thai Tibetan Tifinagh Ugaritic Unknown Vai Yi
"""
CATEGORIES, SCRIPTS = frozenset(_CATEGORIES.split()), frozenset(_SCRIPTS.split())
"""The Unicode categories and scripts that `\\p{...}` accepts in RE2/J 1.8, which Kafka 4.3 uses.

Names of topics are ASCII, so their characters belong to the scripts Latin and Common only.
"""


def belongs_to(char: str, name: str) -> bool:
    """Returns whether a character of a topic's name belongs to a category or script. All characters belong to `Any`."""
    if name in CATEGORIES:
        return unicodedata.category(char).startswith(name)
    return name == "Any" or name == ("Latin" if char.isalpha() else "Common")
