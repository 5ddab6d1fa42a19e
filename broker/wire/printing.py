"""The forms in which entries are printed one after the other: lines of text, or lines of JSON."""

from __future__ import annotations

import json
from typing import Protocol

from .exchange import Entry
from .json_form import json_of_entry
from .lines import Lines


class Printing(Protocol):
    """A form of output."""

    def of(self, entry: Entry) -> str:
        """Returns the text for an entry, without a line feed at the end."""

    def missed(self, count: int) -> str:
        """Returns the text for entries that were dropped before they could be shown."""


class JsonLines:
    """One JSON object per line, with the decoded messages if `verbose`."""

    def __init__(self, *, verbose: bool) -> None:
        self._verbose = verbose

    def of(self, entry: Entry) -> str:
        """Returns the object for an entry."""
        return json.dumps(json_of_entry(entry, verbose=self._verbose))

    def missed(self, count: int) -> str:
        """Returns an object with the number of entries."""
        return json.dumps({"kind": "missed", "missed": count})


def printed_by(*, verbose: bool, as_json: bool, colours: bool) -> Printing:
    """Returns the form that options select. JSON has no colours."""
    return JsonLines(verbose=verbose) if as_json else Lines(colours=colours, verbose=verbose)
