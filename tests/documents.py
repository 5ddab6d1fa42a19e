"""Writes the parts of documents and modules that follow from the code: `make docs`.

tests/tidy/test_documents.py checks that they are current.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from odradek.broker.control_interface import documentation as controls
from odradek.broker.handlers import HANDLERS
from odradek.broker.settings.documentation import as_markdown
from odradek.protocol.messages import APIS
from odradek.protocol.schema import Versions
from tests import request_paths
from tests.conformance import page as conformance

ROOT = Path(__file__).parents[1]
README, CONFIGURATION, CONTROLS, ARCHITECTURE = "README.md", "docs/configuration.md", "docs/controls.md", "ARCHITECTURE.md"
CONFORMANCE = "docs/conformance.md"
SERVED_APIS, FAMILIES = "protocol/served_apis.py", "broker/handler_families.py"
ENTRIES = re.compile(r"^    \d+: .*,\n(?:    .*\n)*", re.MULTILINE)
API_ROWS = re.compile(r"(?<=^\| key \| API \| versions \|\n\|--:\|---\|---\|\n)(?:\|.*\n)*", re.MULTILINE)


def rendered() -> dict[str, str]:
    """Returns the current text of each document that has generated parts, by its path in the repository."""
    return {
        README: readme(),
        CONFIGURATION: as_markdown(),
        CONTROLS: controls.as_markdown(),
        CONFORMANCE: conformance.as_markdown(),
        ARCHITECTURE: request_paths.rewritten(read(ARCHITECTURE)),
        SERVED_APIS: with_rows(
            SERVED_APIS, (f'{key}: ("{module_of(api.request)}", {api.versions.first}, {api.versions.last})' for key, api in APIS.items())
        ),
        FAMILIES: with_rows(FAMILIES, (f'{key}: "{module_of(handler.rule)}"' for key, handler in sorted(HANDLERS.items()))),
    }


def readme() -> str:
    """Returns the README with a row for each API of the registry. Raises ValueError if it has no table of APIs, or several."""
    rows = "".join(f"| {key} | {api.name} | {_versions(api.versions)} |\n" for key, api in APIS.items())
    text, count = API_ROWS.subn(rows, read(README))
    if count != 1:
        raise ValueError(f"{README} has {count} tables of APIs")
    return text


def with_rows(name: str, rows: Iterable[str]) -> str:
    """Returns a module that consists of one dictionary, with these entries."""
    return ENTRIES.sub("".join(f"    {row},\n" for row in rows), read(name))


def module_of(declared: type | Callable[..., object]) -> str:
    return declared.__module__.rpartition(".")[2]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _versions(versions: Versions) -> str:
    return str(versions.first) if versions.first == versions.last else f"{versions.first}-{versions.last}"


if __name__ == "__main__":
    for name, text in rendered().items():
        (ROOT / name).write_text(text, encoding="utf-8")
