"""Finds what a `$ref` refers to: in the same document, in a registered reference, by JSON Pointer, `$id`, `id` or `$anchor`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from ..schema import InvalidSchema

METASCHEMAS = ("http://json-schema.org/", "https://json-schema.org/")


@dataclass(frozen=True)
class Place:
    """A schema within a document, and the URI against which its references are resolved."""

    declared: Any
    base: str
    document: str
    """The URI of the document, for references that begin with #."""


class JsonDocuments:
    """A schema, whose URI is "" if it has no `$id`, and the documents of its references by name."""

    def __init__(self, root: Any, referenced: Mapping[str, Any], id_keyword: str) -> None:
        self._id_keyword = id_keyword
        self._places: dict[str, Place] = {}
        self.root = self._add(root, "")
        for name, document in referenced.items():
            for uri in (urljoin(self.root.base, name), name, f"./{name}"):
                self._places.setdefault(uri, self._add(document, uri))

    def _add(self, document: Any, uri: str) -> Place:
        """Remembers the schemas of a document that have an identifier. Returns the document's root."""
        root = Place(document, self.base_of(document, uri), self.base_of(document, uri))
        self._places.setdefault(uri, root)
        pending = [Place(document, uri, root.document)]
        while pending:
            place = pending.pop()
            if isinstance(place.declared, dict):
                base = self.base_of(place.declared, place.base)
                here = Place(place.declared, base, place.document)
                self._places.setdefault(base, here)
                anchor = place.declared.get("$anchor")
                if isinstance(anchor, str):
                    self._places.setdefault(f"{urldefrag(base).url}#{anchor}", here)
                pending += [Place(value, base, place.document) for value in place.declared.values()]
            elif isinstance(place.declared, list):
                pending += [Place(value, place.base, place.document) for value in place.declared]
        return root

    def base_of(self, declared: Any, base: str) -> str:
        """Returns the URI of the schema `declared`, which is found at a place with the URI `base`."""
        identifier = declared.get(self._id_keyword) if isinstance(declared, dict) else None
        return _join(base, identifier) if isinstance(identifier, str) else base

    def find(self, reference: str, place: Place) -> Place:
        """Returns the schema to which `reference` at `place` refers. Raises `InvalidSchema` if there is none."""
        uris = [_join(place.base, reference)]
        if reference.startswith("#"):
            uris.append(_join(place.document, reference))
        for uri in uris:
            found = self._places.get(uri) or self._places.get(uri.removesuffix("#")) or self._follow_pointer(uri)
            if found:
                return found
        if uris[0].startswith(METASCHEMAS):
            return Place(True, "", "")
        if uris[0].startswith(("http://", "https://")):
            raise InvalidSchema(f"Remote schema reference fetching over HTTP(S) is disabled: {uris[0]}")
        raise InvalidSchema(f"the $ref {reference} refers to nothing")

    def _follow_pointer(self, uri: str) -> Place | None:
        url, pointer = urldefrag(uri)
        found = self._places.get(url)
        if found is None or not pointer.startswith("/"):
            return None
        declared, base = found.declared, found.base
        names = [token.replace("~1", "/").replace("~0", "~") for token in unquote(pointer).split("/")[1:]]
        if names[0] == "$defs" and not _has_definition(declared, names):
            names[0] = "definitions"  # Confluent's registry finds the definitions of a document by either name
        for name in names:
            if isinstance(declared, dict) and name in declared:
                declared = declared[name]
            elif isinstance(declared, list) and name.isdecimal() and len(name) < 10 and int(name) < len(declared):
                declared = declared[int(name)]
            else:
                return None
            base = self.base_of(declared, base)
        return Place(declared, base, found.document)


def _join(base: str, reference: str) -> str:
    try:
        uri = urljoin(base, reference)
        urldefrag(uri)  # raises ValueError where urljoin has not parsed the reference
        return uri
    except ValueError as error:
        raise InvalidSchema(f"{reference} is no URI: {error}") from None


def _has_definition(declared: Any, names: list[str]) -> bool:
    definitions = declared.get("$defs") if isinstance(declared, dict) else None
    return isinstance(definitions, dict) and len(names) > 1 and names[1] in definitions
