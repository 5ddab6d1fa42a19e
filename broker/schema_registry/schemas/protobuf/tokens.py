"""Splits the text of a `.proto` file into words, strings and punctuation."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..schema import MAX_NESTING, MAX_TEXT_LENGTH, InvalidSchema

TOKEN = re.compile(
    r"""(?P<space>[\s]+|//[^\n]*|/\*.*?\*/)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<word>[A-Za-z0-9_.+-]+)
    |(?P<mark>[{}\[\]()<>=;:,/])
    |(?P<wrong>.)""",
    re.VERBOSE | re.DOTALL,
)
MAX_TOKENS = 200_000
"""The most words, strings and marks of a file, which is what its parsing costs."""

ESCAPE = re.compile(r"\\(?:[xX](?P<hex>[0-9A-Fa-f]{1,2})|(?P<octal>[0-7]{1,3})|u(?P<unicode>[0-9A-Fa-f]{4})|(?P<char>.))", re.DOTALL)
ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
END = ""


class ProtoToken(NamedTuple):
    """A token. `text` is the value of a string, without quotes and escapes; the end of the file is an empty mark."""

    kind: str
    text: str
    at: int


class TokenReader:
    """Reads tokens one after the other. All errors are `InvalidSchema` and tell line and column."""

    def __init__(self, source: str) -> None:
        if len(source) > MAX_TEXT_LENGTH:
            raise InvalidSchema(f"the schema has {len(source)} characters, but at most {MAX_TEXT_LENGTH} are allowed")
        self._source = source
        self._tokens = self._split()
        self._next = 0

    def _split(self) -> list[ProtoToken]:
        tokens: list[ProtoToken] = []
        depth = 0
        for match in TOKEN.finditer(self._source):
            kind, text = str(match.lastgroup), match[0]
            if kind == "space":
                continue
            if kind == "wrong":
                raise self.error(f"unexpected {text!r}", match.start())
            if kind == "string":
                text = ESCAPE.sub(_unescape, text[1:-1])
            elif kind == "mark":
                depth += (text in "{[(<") - (text in "}])>")
                if depth > MAX_NESTING:
                    raise self.error(f"nested deeper than {MAX_NESTING} levels", match.start())
            tokens.append(ProtoToken(kind, text, match.start()))
            if len(tokens) > MAX_TOKENS:
                raise InvalidSchema(f"the schema has more than {MAX_TOKENS} words and marks; split it into several files")
        return [*tokens, ProtoToken("mark", END, len(self._source))]

    def error(self, problem: str, at: int | None = None) -> InvalidSchema:
        """Returns the exception for a problem at an offset of the source, or at the next token."""
        place = self._tokens[self._next].at if at is None else at
        line = self._source.count("\n", 0, place) + 1
        column = place - self._source.rfind("\n", 0, place)
        return InvalidSchema(f"Syntax error in {line}:{column}: {problem}")

    def peek(self) -> ProtoToken:
        return self._tokens[self._next]

    def take(self) -> ProtoToken:
        token = self._tokens[self._next]
        self._next = min(self._next + 1, len(self._tokens) - 1)
        return token

    def takes(self, mark: str) -> bool:
        """Takes the next token if it is `mark`. Returns whether it was."""
        token = self.peek()
        if token.kind != "mark" or token.text != mark:
            return False
        self.take()
        return True

    def expect(self, mark: str) -> None:
        if not self.takes(mark):
            raise self.error(f"expected '{mark}', but found {_show(self.peek())}")

    def word(self, what: str) -> str:
        """Returns the next token, which must be a word; `what` says in the message which one."""
        if self.peek().kind != "word":
            raise self.error(f"expected {what}, but found {_show(self.peek())}")
        return self.take().text

    def string(self, what: str) -> str:
        """Returns the next strings, which are one, as in C."""
        if self.peek().kind != "string":
            raise self.error(f"expected {what} in quotes, but found {_show(self.peek())}")
        parts = []
        while self.peek().kind == "string":
            parts.append(self.take().text)
        return "".join(parts)

    def integer(self, what: str) -> int:
        at = self.peek().at
        text = self.word(what)
        try:
            number = int(text, 0) if not re.fullmatch(r"0[0-7]+", text) else int(text, 8)
        except ValueError:
            raise self.error(f"expected {what}, but found {text}", at) from None
        if not -(2**31) <= number < 2**31:
            raise self.error(f"{what} {text} is too large", at)
        return number


def _unescape(match: re.Match[str]) -> str:
    if match["hex"]:
        return chr(int(match["hex"], 16))
    if match["octal"]:
        return chr(int(match["octal"], 8) & 0xFF)
    if match["unicode"]:
        char = chr(int(match["unicode"], 16))
        return char if not "\ud800" <= char <= "\udfff" else "\ufffd"
    return ESCAPED.get(match["char"], match["char"])


def _show(token: ProtoToken) -> str:
    return "the end of the file" if token.text == END and token.kind == "mark" else repr(token.text)
