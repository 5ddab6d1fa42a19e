"""The cases, a module for each family."""

from __future__ import annotations

from collections.abc import Callable

from ..script import Cases
from . import batches, fetch, forms, group_states, groups, offsets, produce, sequences, transactions

FAMILIES: dict[str, Callable[[], Cases]] = {
    "produce": produce.cases,
    "batches": batches.cases,
    "sequences": sequences.cases,
    "fetch": fetch.cases,
    "offsets": offsets.cases,
    "forms": forms.cases,
    "groups": groups.cases,
    "group_states": group_states.cases,
    "transactions": transactions.cases,
}
"""What makes the cases of a family, by its name."""
