"""Writes the generated part of docs/apis.md, the table of all APIs, and a page for each family of APIs in docs/apis/.

A page has each API with its versions, its purpose and its deviations from Apache Kafka. The purpose is the docstring of the module that
declares the messages. The deviations are those of known_differences.txt.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import getdoc
from typing import NamedTuple

from odradek.broker.handlers import HANDLERS
from odradek.protocol.messages import APIS
from odradek.protocol.schema import Api, Versions
from tests.differential.comparison import KnownDifference, known_differences

MARK = "<!-- `make docs` writes the rest of this page. -->\n"
EVERY_API = "*"
PAGE, FOLDER = "docs/apis.md", "apis"
FAMILIES = {
    "Records": "produce fetch list_offsets delete_records",
    "Metadata and topics": "api_versions metadata topic_partitions topics",
    "Consumer groups": "find_coordinator groups consumer_groups offsets",
    "Share groups": "share_groups share_fetch share_group_offsets share_states",
    "Streams groups": "streams_groups",
    "Transactions": "transactions transaction_admin",
    "Settings, quotas and features": "configs alter_configs client_quotas features",
    "Security": "sasl acls scram_credentials delegation_tokens",
    "Administration of nodes and replicas": "log_dirs elections reassignments quorum",
    "Client metrics": "telemetry",
}
"""The titles of the pages, with the modules of their handlers."""
SAME = "the same"


class Deviation(NamedTuple):
    """A way in which the answers of an API differ from Apache Kafka's, with the fields that show it."""

    reason: str
    fields: tuple[str, ...]

    def __str__(self) -> str:
        fields = "the whole answer" if set(self.fields) <= {"answer", "case", "*"} else ", ".join(f"`{name}`" for name in self.fields)
        return f"* {self.reason[0].upper()}{self.reason[1:]}.\n  Differs: {fields}."


def pages(page: str) -> dict[str, str]:
    """Returns the pages by their paths: docs/apis.md with a current generated part, and one for each family.

    Raises ValueError if the mark is missing in `page`, the present text of docs/apis.md.
    """
    head, mark, _ = page.partition(MARK)
    if not mark:
        raise ValueError(f"{PAGE} has no line {MARK!r}")
    found = deviations(known_differences())
    families = _families()
    contents = "\n".join(["```{toctree}", ":hidden:", "", *(f"{FOLDER}/{_slug(title)}" for title in families), "```"])
    texts = {f"docs/{FOLDER}/{_slug(title)}.md": _family_page(title, apis, found) for title, apis in families.items()}
    return texts | {
        PAGE: head + mark + "\n" + "\n\n".join([_table(families, found), _every_api(found.get(EVERY_API, [])), contents]) + "\n"
    }


def _families() -> dict[str, list[Api]]:
    """Returns the APIs of each page by its title, in the order of their keys. Raises KeyError if a handler's module is on no page."""
    titles = {module: title for title, modules in FAMILIES.items() for module in modules.split()}
    found: dict[str, list[Api]] = {title: [] for title in FAMILIES}
    for key, api in APIS.items():
        found[titles[HANDLERS[key].rule.__module__.rpartition(".")[2]]].append(api)
    return found


def _slug(title: str) -> str:
    return title.lower().replace(",", "").replace(" ", "-")


def _family_page(title: str, apis: Iterable[Api], found: Mapping[str, Sequence[Deviation]]) -> str:
    sections = [_section(api, found.get(api.name, [])) for api in apis]
    return "\n\n".join([f"# {title}", f"[All APIs](../{FOLDER}.md) explains what is compared.", *sections]) + "\n"


def deviations(known: Sequence[KnownDifference]) -> dict[str, list[Deviation]]:
    """Returns the deviations of each API by its name. Entries with the same reason are one deviation."""
    found: dict[str, dict[str, list[KnownDifference]]] = defaultdict(lambda: defaultdict(list))
    reason = ""
    for entry in known:
        reason = reason if entry.reason == SAME else entry.reason
        for api in entry.apis:
            found[api][reason].append(entry)
    return {api: [Deviation(reason, _names(entries)) for reason, entries in reasons.items()] for api, reasons in found.items()}


def _names(entries: Sequence[KnownDifference]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entry.field for entry in entries))


def _table(families: Mapping[str, Iterable[Api]], found: Mapping[str, Sequence[Deviation]]) -> str:
    page_of = {api.key: title for title, apis in families.items() for api in apis}
    rows = (
        f"| {api.key} | [{api.name}]({FOLDER}/{_slug(page_of[api.key])}.md#{anchor(api)}) | {page_of[api.key]} | {versions(api.versions)} |"
        f" {len(found.get(api.name, [])) or ''} |"
        for api in APIS.values()
    )
    return "\n".join(["| key | API | family | versions | deviations |", "|--:|---|---|---|--:|", *rows])


def _every_api(found: Sequence[Deviation]) -> str:
    return "\n\n".join(["## Deviations of every API", *map(str, found)])


def _section(api: Api, found: Sequence[Deviation]) -> str:
    purpose, *history = _paragraphs(api)
    kips = sorted({int(number) for number in re.findall(r"KIP-(\d+)", " ".join([purpose, *history]))})
    facts = [f"Key {api.key}", f"versions {versions(api.versions)}", *(["KIPs " + ", ".join(map(str, kips))] if kips else [])]
    listed = ["\n".join(map(str, found))] if found else ["No known deviation."]
    return "\n\n".join([f"## {api.name}", "; ".join(facts) + ".", purpose, *history, *listed])


def _paragraphs(api: Api) -> Iterator[str]:
    """Yields the paragraphs of the docstring of an API's module, without the name with which it begins."""
    first, *others = (getdoc(sys.modules[api.request.__module__]) or "").split("\n\n")
    yield re.sub(rf"^{api.name} \({api.key}\): (\w)", lambda found: found[1].upper(), first)
    yield from others


def anchor(api: Api) -> str:
    return api.name.lower()


def versions(served: Versions) -> str:
    return str(served.first) if served.first == served.last else f"{served.first}-{served.last}"
