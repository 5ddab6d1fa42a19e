"""`odradek inspect`: shows Kafka's log directories and their files without a broker."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .options import refuse

DAMAGED = 1
EXAMPLES = """\
examples:
  odradek inspect kafka-data/node-1/data                                     the partitions of a log directory
  odradek inspect kafka-data/node-1/data --deep                              check every batch and every index entry
  odradek inspect kafka-data/node-1/data/orders-0/00000000000000000000.log   the records of a segment
  odradek inspect kafka-data/node-1/data/bootstrap.checkpoint --json         the metadata, for programs

The exit code is 0 without damage, 1 with damage, and 2 if the path cannot be read.
"""


def add_options(inspect: argparse.ArgumentParser) -> None:
    inspect.add_argument("path", metavar="PATH", help="a log directory, the folder of a partition, or one of their files")
    deep_help = "check the CRC of every batch, and the offsets and positions in every index"
    inspect.add_argument("--deep", action="store_true", help=deep_help)
    inspect.add_argument("--json", action="store_true", help="print one JSON object per line")


def run(options: argparse.Namespace, _environ: Mapping[str, str]) -> int:
    """Prints the contents. Returns 0, 1 if there is damage, and 2 if the path cannot be read."""
    from ..directories.inspection import inspect_directory, inspect_file, inspect_partition, is_partition

    path = Path(options.path)
    try:
        if path.is_dir():
            describe = inspect_partition if is_partition(path) else inspect_directory
            return _show_folder(*describe(path, deep=options.deep), as_json=options.json)
        if options.deep:
            return refuse("--deep checks log directories and folders of partitions, not single files")
        return _show_file(inspect_file(path), as_json=options.json)
    except BrokenPipeError:  # of a reader such as head
        raise
    except OSError as error:
        return refuse(f"cannot read {error.filename or path}: {error.strerror or error}")
    except ValueError as error:
        return refuse(str(error))


def _show_folder(rows: list[dict[str, Any]], problems: list[str], *, as_json: bool) -> int:
    from .tables import as_table

    if as_json:
        sys.stdout.writelines(f"{json.dumps(row)}\n" for row in [*rows, *({"problem": problem} for problem in problems)])
    else:
        sys.stdout.write(as_table(rows))
        sys.stdout.writelines(f"{problem}\n" for problem in problems)
    return DAMAGED if problems else 0


def _show_file(rows: Any, *, as_json: bool) -> int:
    is_damaged = False
    for row in rows:
        is_damaged = is_damaged or "damage" in row
        sys.stdout.write(_as_json(row) if as_json else _as_line(row))
    return DAMAGED if is_damaged else 0


def _as_json(row: Mapping[str, Any]) -> str:
    from ..seed_data.entries import plain

    return json.dumps(row, default=plain, ensure_ascii=False) + "\n"


def _as_line(row: Mapping[str, Any]) -> str:
    return "  ".join(f"{name}={_text(value)}" for name, value in row.items()) + "\n"


def _text(value: Any) -> str:
    """Returns a value on one line. Control characters of records would act on the terminal, so they are escaped."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, str):
        return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in value)
    return "-" if value is None else json.dumps(value, default=str) if isinstance(value, list | dict) else str(value)
