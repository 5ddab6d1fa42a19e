"""Results of commands as plain text in aligned columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..process.terminal import BOLD, paint, table


def as_table(value: Any, *, colours: bool = False) -> str:
    """Returns a result as text: objects as lines of name and value, lists of objects as tables, other values as they are.

    A list of objects inside of a table is replaced by its length. With colours, the headings of tables are bold.
    """
    if isinstance(value, list):
        return _list(value, colours)
    if not isinstance(value, dict):
        return f"{_cell(value)}\n"
    tables = {name: each for name, each in value.items() if _is_table(each)}
    rows = [(name, _cell(each)) for name, each in value.items() if name not in tables]
    parts = ["\n".join(table(rows)) + "\n"] if rows else []
    return "\n".join([*parts, *(f"{name}:\n{_list(each, colours)}" for name, each in tables.items())])


def _list(values: Sequence[Any], colours: bool) -> str:
    if not _is_table(values):
        return "".join(f"{_cell(each)}\n" for each in values)
    names = list(dict.fromkeys(name for each in values for name in each))
    first, *rows = table([[name.upper() for name in names], *([_cell(each.get(name)) for name in names] for each in values)])
    return "\n".join([paint(BOLD, first) if colours else first, *rows]) + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) and each.keys() != {"base64"} for each in value)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if _is_table(value):
        return str(len(value))
    if isinstance(value, str):
        text = value
    elif isinstance(value, list) and all(isinstance(each, int | str) for each in value):
        text = ",".join(map(str, value))
    else:
        text = json.dumps(value, ensure_ascii=False)
    # A record may contain control characters, which would act on the terminal.
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
