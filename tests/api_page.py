"""Writes the generated part of docs/apis.md: each API with its versions, its purpose and its deviations from Apache Kafka.

The purpose is the docstring of the module that declares the messages. The deviations are those of known_differences.txt.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from inspect import getdoc
from typing import NamedTuple

from odradek.protocol.messages import APIS
from odradek.protocol.schema import Api, Versions
from tests.differential.comparison import KnownDifference, known_differences

MARK = "<!-- `make docs` writes the rest of this page. -->\n"
EVERY_API = "*"
SAME = "the same"


class Deviation(NamedTuple):
    """A way in which the answers of an API differ from Apache Kafka's, with the fields and cases that show it."""

    reason: str
    fields: tuple[str, ...]
    cases: tuple[str, ...]

    def __str__(self) -> str:
        fields = "the whole answer" if set(self.fields) <= {"answer", "case", "*"} else ", ".join(f"`{name}`" for name in self.fields)
        cases = ", ".join(f"`{name}`" for name in self.cases)
        return f"* {self.reason[0].upper()}{self.reason[1:]}.\n  Differs: {fields}; in the cases {cases}."


def rewritten(page: str) -> str:
    """Returns the page with a current generated part. Raises ValueError if the mark is missing."""
    head, mark, _ = page.partition(MARK)
    if not mark:
        raise ValueError(f"docs/apis.md has no line {MARK!r}")
    found = deviations(known_differences())
    sections = [_section(api, found.get(api.name, [])) for api in APIS.values()]
    return head + mark + "\n" + "\n\n".join([_table(found), _every_api(found.get(EVERY_API, [])), "## Each API", *sections]) + "\n"


def deviations(known: Sequence[KnownDifference]) -> dict[str, list[Deviation]]:
    """Returns the deviations of each API by its name. Entries with the same reason are one deviation."""
    found: dict[str, dict[str, list[KnownDifference]]] = defaultdict(lambda: defaultdict(list))
    reason = ""
    for entry in known:
        reason = reason if entry.reason == SAME else entry.reason
        for api in entry.apis:
            found[api][reason].append(entry)
    return {api: [Deviation(reason, *_names(entries)) for reason, entries in reasons.items()] for api, reasons in found.items()}


def _names(entries: Sequence[KnownDifference]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(dict.fromkeys(entry.field for entry in entries)), tuple(dict.fromkeys(entry.cases for entry in entries))


def _table(found: dict[str, list[Deviation]]) -> str:
    rows = (
        f"| {api.key} | [{api.name}](#{anchor(api)}) | {versions(api.versions)} | {len(found.get(api.name, [])) or ''} |"
        for api in APIS.values()
    )
    return "\n".join(["| key | API | versions | deviations |", "|--:|---|---|--:|", *rows])


def _every_api(found: Sequence[Deviation]) -> str:
    return "\n\n".join(["## Deviations of every API", *map(str, found)])


def _section(api: Api, found: Sequence[Deviation]) -> str:
    purpose, *history = _paragraphs(api)
    kips = sorted({int(number) for number in re.findall(r"KIP-(\d+)", " ".join([purpose, *history]))})
    facts = [f"Key {api.key}", f"versions {versions(api.versions)}", *(["KIPs " + ", ".join(map(str, kips))] if kips else [])]
    listed = ["\n".join(map(str, found))] if found else ["No known deviation."]
    return "\n\n".join([f"### {api.name}", "; ".join(facts) + ".", purpose, *history, *listed])


def _paragraphs(api: Api) -> Iterator[str]:
    """Yields the paragraphs of the docstring of an API's module, without the name with which it begins."""
    first, *others = (getdoc(sys.modules[api.request.__module__]) or "").split("\n\n")
    yield re.sub(rf"^{api.name} \({api.key}\): (\w)", lambda found: found[1].upper(), first)
    yield from others


def anchor(api: Api) -> str:
    return api.name.lower()


def versions(served: Versions) -> str:
    return str(served.first) if served.first == served.last else f"{served.first}-{served.last}"
