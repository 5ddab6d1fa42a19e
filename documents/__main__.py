"""Writes the generated parts of documents and modules, except for docs/walk.md: `make docs`."""

from __future__ import annotations

from .generated import rendered, write

write(rendered())
