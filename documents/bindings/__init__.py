"""Generator of the typed controls in bindings/: one file for Go, one for Java, two for Node.

The parameters and results come from the OpenAPI document of the control listener, and the names of methods from the declarations of the
controls, so that a control has the same name in every language, in the style of that language.
"""

from __future__ import annotations

from . import go, java, node
from .interface import interface

__all__ = ["sources"]


def sources() -> dict[str, str]:
    """Returns the text of each generated file by its path in the repository."""
    described = interface()
    return {go.FILE: go.source(described), java.FILE: java.source(described)} | node.sources(described)
