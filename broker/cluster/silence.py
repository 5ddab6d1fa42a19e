"""Why a node is silent. It is a module of its own, so that declaring the controls imports nothing else of the cluster."""

from __future__ import annotations

from enum import Enum


class Silence(Enum):
    """The reason for which a running node neither answers nor fetches, although its connections stay open."""

    PAUSED = "paused"
    ISOLATED = "isolated"
