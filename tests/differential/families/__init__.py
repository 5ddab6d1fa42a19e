"""The cases, a module for each family."""

from __future__ import annotations

from ..script import Family
from . import acls, admin, batches, configs, fetch, forms, offsets, produce, sequences

FAMILIES: dict[str, Family] = {
    "produce": Family(produce.cases),
    "batches": Family(batches.cases),
    "sequences": Family(sequences.cases),
    "fetch": Family(fetch.cases),
    "offsets": Family(offsets.cases),
    "forms": Family(forms.cases),
    "admin": Family(admin.cases),
    "configs": Family(configs.cases),
    "acls": Family(acls.cases, acls.SETTINGS),
}
"""What makes the cases of a family, by its name."""
