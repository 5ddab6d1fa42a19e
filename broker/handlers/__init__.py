"""The rules: one file for each family of APIs. `HANDLERS` says which function answers which key."""

from __future__ import annotations

from . import api_versions, configs, fetch, find_coordinator, groups, init_producer_id, list_offsets, metadata, offsets, produce, topics
from .api_versions import unsupported_version
from .failure import failure
from .registry import HANDLERS, CloseConnection

__all__ = [
    "HANDLERS",
    "CloseConnection",
    "api_versions",
    "configs",
    "failure",
    "fetch",
    "find_coordinator",
    "groups",
    "init_producer_id",
    "list_offsets",
    "metadata",
    "offsets",
    "produce",
    "topics",
    "unsupported_version",
]
