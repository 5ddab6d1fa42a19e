"""A hash of the topics that a group reads, with which the group notices that one was created, deleted or extended."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from ..topics.partition import Topic


def metadata_hash(names: Iterable[str], topics: Mapping[str, Topic]) -> int:
    """Returns a hash of the ids and numbers of partitions of those topics that exist, a signed 64-bit integer; 0 if none exists."""
    found = sorted((topic.id, len(topic.partitions)) for name in names if (topic := topics.get(name)))
    digest = hashlib.blake2b(repr(found).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True) if found else 0
