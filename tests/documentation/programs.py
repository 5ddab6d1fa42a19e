"""The listings of a page as one program."""

from __future__ import annotations

from .listings import PROGRAM, Listing, listings, read
from .not_run import NOT_RUN


def is_run(listing: Listing) -> bool:
    return not listing.is_directive and not any(entry.covers(listing) for entry in NOT_RUN)


def run_listings(page: str, *languages: str) -> list[Listing]:
    return [listing for listing in listings(page) if listing.language in languages and is_run(listing)]


def program(page: str) -> str:
    """Returns the Python listings of a page at their line numbers, so that a traceback names the lines of the page."""
    lines = [""] * (read(page).count("\n") + 1)
    for listing in run_listings(page, PROGRAM):
        if not listing.file:
            for number, line in enumerate(listing.text.splitlines(), listing.line - 1):
                lines[number] = line
    return "\n".join(lines)
