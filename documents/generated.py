"""The parts of documents and modules that follow from the code.

tests/documents/test_generated.py checks that they are current.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from odradek.broker.handlers import HANDLERS
from odradek.protocol.messages import APIS

from . import apis, bindings, conformance, controls, settings

ROOT = Path(__file__).parents[1]
SERVED_APIS, FAMILIES = "protocol/served_apis.py", "broker/api/handler_families.py"
ENTRIES = re.compile(r"^    \d+: .*,\n(?:    .*\n)*", re.MULTILINE)


def rendered() -> dict[str, str]:
    """Returns the current text of each document that has generated parts, by its path in the repository."""
    return {
        **generated_pages(),
        **bindings.sources(),
        SERVED_APIS: with_rows(
            SERVED_APIS, (f'{key}: ("{module_of(api.request)}", {api.versions.first}, {api.versions.last})' for key, api in APIS.items())
        ),
        FAMILIES: with_rows(FAMILIES, (f'{key}: "{module_of(handler.rule)}"' for key, handler in sorted(HANDLERS.items()))),
    }


def generated_pages() -> dict[str, str]:
    """Returns the current text of each generated page of the documentation, by its path in the repository."""
    return apis.pages(read(apis.PAGE)) | settings.pages() | controls.pages() | conformance.pages()


def with_rows(name: str, rows: Iterable[str]) -> str:
    """Returns a module that consists of one dictionary, with these entries."""
    return ENTRIES.sub("".join(f"    {row},\n" for row in rows), read(name))


def module_of(declared: type | Callable[..., object]) -> str:
    return declared.__module__.rpartition(".")[2]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def write(texts: Mapping[str, str], root: Path = ROOT) -> None:
    """Writes the documents, and removes former pages from the folders of the generated ones."""
    for folder in {(root / name).parent for name in texts if name.count("/") > 1 and name.startswith("docs/")}:
        folder.mkdir(parents=True, exist_ok=True)
        for page in folder.glob("*.md"):
            page.unlink()
    for name, text in texts.items():
        (root / name).write_text(text, encoding="utf-8")
