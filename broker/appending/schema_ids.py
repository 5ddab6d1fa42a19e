"""Refuses records without a known schema, as Confluent Server does for topics with `confluent.value.schema.validation`.

A key or value must begin with the byte 0 and the id of a schema (Confluent's wire format) that the schema registry of the cluster has in a
subject with the name that the topic's strategy gives. Null needs no schema.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection

from ...protocol.batches.checks import RejectedRecords
from ...protocol.batches.records import RecordBatch
from ...protocol.errors import ErrorCode
from .batch_checks import SchemaRules

HEADER = struct.Struct(">bI")

SubjectsOf = Callable[[int], Collection[str]]
"""Returns the subjects that have the schema with an id; none if the id is unknown."""


def check_schemas(batch: memoryview, topic: str, rules: SchemaRules, subjects_of: SubjectsOf) -> None:
    """Raises RejectedRecords, with an error for each record whose key or value has no schema that fits."""
    complaints: dict[tuple[str, bytes | None], str | None] = {}
    errors = []
    for number, record in enumerate(RecordBatch(batch).records()):
        for part, strategy, data in (("key", rules.key, record.key), ("value", rules.value, record.value)):
            if strategy is None or data is None:
                continue
            start = (part, bytes(data[: HEADER.size]))
            if start not in complaints:
                complaints[start] = _complaint(part, start[1], topic, strategy, subjects_of)
            if (complaint := complaints[start]) is not None:
                errors.append((number, ErrorCode.INVALID_RECORD, complaint))
                break
    if errors:
        raise RejectedRecords(errors)


def _complaint(part: str, start: bytes, topic: str, strategy: str, subjects_of: SubjectsOf) -> str | None:
    """Returns what is wrong with a key or value that begins with `start`, None if it has a schema."""
    if len(start) < HEADER.size or start[0] != 0:
        return f"the {part} does not begin with the byte 0 and a schema id, which confluent.{part}.schema.validation requires"
    schema_id = HEADER.unpack(start)[1]
    subjects = subjects_of(schema_id)
    if not subjects:
        return f"the {part} has the schema id {schema_id}, which the schema registry does not have"
    if strategy.endswith(".TopicNameStrategy") and f"{topic}-{part}" not in subjects:
        return f"the {part} has the schema id {schema_id}, which is not registered for the subject {topic}-{part}"
    if strategy.endswith(".TopicRecordNameStrategy") and not any(subject.startswith(f"{topic}-") for subject in subjects):
        return f"the {part} has the schema id {schema_id}, which is not registered for a subject that begins with {topic}-"
    return None
