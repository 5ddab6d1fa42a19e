"""Reads the text of a `.proto` file.

The package proto-schema-parser does so too, but its ANTLR parser needs 12 ms for a small file, and recurses without limit. As Confluent's
library Wire, this parser does not check what needs other files.
"""

from __future__ import annotations

import re
from typing import Any

from ..schema import MAX_NESTING
from .elements import (
    MAX_TAG,
    ProtoEnum,
    ProtoExtend,
    ProtoField,
    ProtoFile,
    ProtoGroup,
    ProtoMessage,
    ProtoMethod,
    ProtoOneOf,
    ProtoOption,
    ProtoRanges,
    ProtoService,
    ProtoWord,
)
from .tokens import TokenReader

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
TYPE_NAME = re.compile(r"\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
LABELS = ("required", "optional", "repeated")


def parse_proto(source: str) -> ProtoFile:
    """Returns the elements of a file. Raises `InvalidSchema` with line and column of the error."""
    return ProtoParser(source).parse()


class ProtoParser:
    """A recursive-descent parser. The reader limits the depth of braces, and thereby of the recursion."""

    def __init__(self, source: str) -> None:
        self._reader = TokenReader(source)
        self._file = ProtoFile()

    def parse(self) -> ProtoFile:
        reader = self._reader
        while reader.peek().text or reader.peek().kind == "string":
            if not reader.takes(";"):
                self._parse_declaration(reader.word("a declaration"))
        self._check_names(self._file.types)
        return self._file

    def _parse_declaration(self, keyword: str) -> None:
        reader, file = self._reader, self._file
        match keyword:
            case "syntax":
                self._parse_syntax()
            case "edition":
                raise reader.error("edition is not currently supported")
            case "package":
                file.package = self._type_name("a package")
                reader.expect(";")
            case "import":
                kind = self._expect_word("public", "weak") if reader.peek().kind == "word" else ""
                {"public": file.public_imports, "": file.imports, "weak": []}[kind].append(reader.string("a file"))
                reader.expect(";")
            case "option":
                file.options.append(self._statement_option())
            case "message":
                file.types.append(self._message())
            case "enum":
                file.types.append(self._enum())
            case "extend":
                file.extends.append(self._extend())
            case "service":
                file.services.append(self._service())
            case _:
                raise reader.error(f"unexpected {keyword!r} at the top of the file")

    def _parse_syntax(self) -> None:
        if self._file != ProtoFile():
            raise self._reader.error("'syntax' element must be the first declaration in a file")
        self._reader.expect("=")
        syntax = self._reader.string("a syntax")
        if syntax not in ("proto2", "proto3"):
            raise self._reader.error(f"unexpected syntax: {syntax}")
        self._file.syntax = syntax
        self._reader.expect(";")

    def _check_names(self, types: list[ProtoMessage | ProtoEnum]) -> None:
        names: set[str] = set()
        for element in types:
            if element.name in names:
                raise self._reader.error(f"{element.name} is already defined")
            names.add(element.name)

    def _expect_word(self, *words: str) -> str:
        found = self._reader.word(words[0])
        if found not in words:
            raise self._reader.error(f"expected {' or '.join(words)}, but found {found!r}")
        return found

    def _name(self, what: str) -> str:
        name = self._reader.word(what)
        if not NAME.fullmatch(name):
            raise self._reader.error(f"expected {what}, but found {name!r}")
        return name

    def _type_name(self, what: str) -> str:
        name = self._reader.word(what)
        if not TYPE_NAME.fullmatch(name):
            raise self._reader.error(f"expected {what}, but found {name!r}")
        return name

    def _message(self) -> ProtoMessage:
        message = ProtoMessage(self._name("the name of a message"))
        self._reader.expect("{")
        while not self._reader.takes("}"):
            if not self._reader.takes(";"):
                self._member(message, self._type_name("a member of a message"))
        self._check_names(message.types)
        return message

    def _member(self, message: ProtoMessage, word: str) -> None:
        """Parses a member that begins with `word`. A word that is a keyword elsewhere may be the type of a field."""
        following = self._reader.peek()
        if following.kind == "mark" and not (word == "map" and following.text == "<") and not (word == "option" and following.text == "("):
            raise self._reader.error(f"expected a name after {word!r}, but found {following.text!r}")
        match word:
            case "message":
                message.types.append(self._message())
            case "enum":
                message.types.append(self._enum())
            case "extend":
                message.extends.append(self._extend())
            case "option":
                message.options.append(self._statement_option())
            case "oneof":
                message.oneofs.append(self._oneof())
            case "reserved":
                message.reserved.append(self._ranges())
            case "extensions":
                message.extensions.append(self._ranges())
            case "group":
                message.groups.append(self._group(None))
            case "required" | "optional" | "repeated":
                kind = self._type_name("a type")
                if kind == "group":
                    message.groups.append(self._group(word))
                else:
                    message.fields.append(self._field(word, kind))
            case _:
                message.fields.append(self._unlabelled_field(word))

    def _unlabelled_field(self, word: str) -> ProtoField:
        if self._file.syntax != "proto3" and word != "map":
            raise self._reader.error(f"unexpected label: {word}")
        return self._field(None, word)

    def _field(self, label: str | None, kind: str) -> ProtoField:
        reader = self._reader
        if label == "required" and self._file.syntax == "proto3":
            raise reader.error("'required' label forbidden in proto3 field declarations")
        if kind == "map" and reader.takes("<"):
            key = self._type_name("the type of the keys")
            reader.expect(",")
            kind = f"map<{key}, {self._type_name('the type of the values')}>"
            reader.expect(">")
            if label:
                raise reader.error("a map has no label")
        name = self._name("the name of a field")
        reader.expect("=")
        tag = reader.integer("a number")
        if not 1 <= tag <= MAX_TAG:
            raise reader.error(f"the number of field {name} is {tag}, but must be from 1 to {MAX_TAG}")
        return self._finish_field(ProtoField(label, kind, name, tag))

    def _finish_field(self, field: ProtoField) -> ProtoField:
        """Parses the options of a field or a constant, and the semicolon."""
        for option in self._bracket_options():
            if option.name == "default" and not option.is_custom:
                field.default = option.value.text if isinstance(option.value, ProtoWord) else str(option.value)
            elif option.name == "json_name" and not option.is_custom:
                field.json_name = str(option.value)
            else:
                field.options.append(option)
        self._reader.expect(";")
        return field

    def _oneof(self) -> ProtoOneOf:
        oneof = ProtoOneOf(self._name("the name of a oneof"))
        self._reader.expect("{")
        while not self._reader.takes("}"):
            if self._reader.takes(";"):
                continue
            word = self._type_name("a type")
            if word == "option":
                oneof.options.append(self._statement_option())
            elif word == "group":
                oneof.groups.append(self._group(None))
            else:
                oneof.fields.append(self._field(None, word))
        return oneof

    def _group(self, label: str | None) -> ProtoGroup:
        name = self._name("the name of a group")
        self._reader.expect("=")
        group = ProtoGroup(label, name, self._reader.integer("a number"), [])
        self._bracket_options()
        self._reader.expect("{")
        while not self._reader.takes("}"):
            if not self._reader.takes(";"):
                group.fields.append(self._labelled_field())
        return group

    def _labelled_field(self) -> ProtoField:
        word = self._type_name("a type")
        return self._field(word, self._type_name("a type")) if word in LABELS else self._unlabelled_field(word)

    def _extend(self) -> ProtoExtend:
        extend = ProtoExtend(self._type_name("the name of a message"), [])
        self._reader.expect("{")
        while not self._reader.takes("}"):
            if not self._reader.takes(";"):
                extend.fields.append(self._labelled_field())
        return extend

    def _enum(self) -> ProtoEnum:
        enum = ProtoEnum(self._name("the name of an enum"))
        self._reader.expect("{")
        while not self._reader.takes("}"):
            if self._reader.takes(";"):
                continue
            word = self._name("a constant")
            if word == "option" and self._reader.peek().text != "=":
                enum.options.append(self._statement_option())
            elif word == "reserved" and self._reader.peek().text != "=":
                enum.reserved.append(self._ranges())
            else:
                self._reader.expect("=")
                enum.constants.append(self._finish_field(ProtoField(None, "", word, self._reader.integer("a number"))))
        return enum

    def _ranges(self) -> ProtoRanges:
        """Parses numbers, ranges and names up to the semicolon. Editions write names without quotes."""
        reader = self._reader
        ranges = ProtoRanges([])
        while True:
            if reader.peek().kind == "string":
                ranges.values.append(reader.string("a name"))
            elif NAME.fullmatch(reader.peek().text):
                ranges.values.append(self._name("a name"))
            else:
                start = reader.integer("a number")
                ranges.values.append((start, self._end_of_range()) if reader.peek().text == "to" else start)
            if not reader.takes(","):
                break
        ranges.options = self._bracket_options()
        reader.expect(";")
        return ranges

    def _end_of_range(self) -> int:
        self._expect_word("to")
        if self._reader.peek().text == "max":
            self._reader.take()
            return MAX_TAG
        return self._reader.integer("the end of a range")

    def _service(self) -> ProtoService:
        service = ProtoService(self._name("the name of a service"))
        self._reader.expect("{")
        while not self._reader.takes("}"):
            if self._reader.takes(";"):
                continue
            if self._expect_word("rpc", "option") == "rpc":
                service.methods.append(self._method())
            else:
                service.options.append(self._statement_option())
        return service

    def _method(self) -> ProtoMethod:
        name = self._name("the name of a method")
        is_request_streamed, request = self._method_type()
        self._expect_word("returns")
        is_response_streamed, response = self._method_type()
        method = ProtoMethod(name, request, response, is_request_streamed, is_response_streamed)
        if self._reader.takes("{"):
            while not self._reader.takes("}"):
                if not self._reader.takes(";"):
                    self._expect_word("option")
                    method.options.append(self._statement_option())
        else:
            self._reader.expect(";")
        return method

    def _method_type(self) -> tuple[bool, str]:
        self._reader.expect("(")
        name = self._type_name("a type")
        is_streamed = name == "stream" and self._reader.peek().kind == "word"
        if is_streamed:
            name = self._type_name("a type")
        self._reader.expect(")")
        return is_streamed, name

    def _statement_option(self) -> ProtoOption:
        option = self._option("=")
        self._reader.expect(";")
        return option

    def _bracket_options(self) -> list[ProtoOption]:
        options: list[ProtoOption] = []
        if self._reader.takes("["):
            while not self._reader.takes("]"):
                options.append(self._option("="))
                if not self._reader.takes(",") and self._reader.peek().text != "]":
                    raise self._reader.error("expected ',' or ']' after an option")
        return options

    def _option(self, separator: str) -> ProtoOption:
        """Parses a name and a value, between which is `separator`, or nothing in front of the brace of a nested message."""
        reader = self._reader
        is_custom, is_extension = reader.takes("("), reader.takes("[")
        name = reader.word("the name of an option")
        if is_extension:
            while reader.takes("/"):
                name += "/" + reader.word("the name of a type")
            reader.expect("]")
            name = f"[{name}]"
        if is_custom:
            reader.expect(")")
        path: list[str] = []
        if is_custom and reader.peek().kind == "word" and reader.peek().text.startswith("."):
            path = reader.word("a field of the option")[1:].split(".")
            if len(path) > MAX_NESTING:
                raise reader.error(f"the path of an option has more than {MAX_NESTING} parts")
        if not (separator == ":" and reader.peek().text in ("{", "[") and reader.peek().kind == "mark"):
            reader.expect(separator)
        value = self._value()
        for nested in reversed(path):
            value = ProtoOption(nested, value)
        return ProtoOption(name, value, is_custom)

    def _value(self) -> Any:
        reader = self._reader
        if reader.peek().kind == "string":
            return reader.string("a value")
        if reader.takes("{"):
            return self._map("}")
        if reader.takes("<"):
            return self._map(">")
        if reader.takes("["):
            return self._list()
        word = reader.word("a value")
        kind = "boolean" if word in ("true", "false") else "number" if word[0].isdigit() or word[0] in "-." else "enum"
        return ProtoWord(word, kind)

    def _map(self, closing: str) -> dict[str, Any]:
        """Parses the fields of a message. Fields of the same name become a list."""
        values: dict[str, Any] = {}
        while not self._reader.takes(closing):
            option = self._option(":")
            if option.name in values:
                previous = values[option.name]
                several = previous if isinstance(previous, list) else [previous]
                several += option.value if isinstance(option.value, list) else [option.value]
                values[option.name] = several
            else:
                values[option.name] = option.value
            if not self._reader.takes(","):
                self._reader.takes(";")
        return values

    def _list(self) -> list[Any]:
        values: list[Any] = []
        while not self._reader.takes("]"):
            values.append(self._value())
            if not self._reader.takes(",") and self._reader.peek().text != "]":
                raise self._reader.error("expected ',' or ']' in a list")
        return values
