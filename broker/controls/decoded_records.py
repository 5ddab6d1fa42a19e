"""Decodes the keys and values of stored records by the schemas of the registry.

Data and schemas may come from any client, so that the work for one request is limited: what is left out says so.
"""

from __future__ import annotations

from ..plurals import counted
from ..schema_registry.errors import RegistryError
from ..schema_registry.records import StoredSchema
from ..schema_registry.registry import SchemaRegistry
from ..schema_registry.schemas import InvalidSchema
from ..schema_registry.schemas.conversion import Decode, decoder_of
from ..schema_registry.schemas.json_text import is_longer, write_json
from ..schema_registry.schemas.wire_format import HEADER, InvalidData, schema_id_of
from ..schema_registry.subjects import DEFAULT_CONTEXT
from .stored_records import DecodedData, DecodedRecord, Record

MAX_BYTES = 64 * 1024
MAX_PARTS = 10_000
MAX_CHARACTERS = 256 * 1024
"""The most bytes, parts and characters of JSON of one key or value."""
MAX_WORK = 2 * 1024 * 1024
"""The most bytes and characters of all keys and values together."""


class RecordDecoder:
    """Decodes the records of one request."""

    def __init__(self, registry: SchemaRegistry) -> None:
        self._registry = registry
        self._has_schemas = bool(registry.index.versions)
        self._decoders: dict[int, Decode | str] = {}
        self._work_left = MAX_WORK

    def decode(self, record: Record) -> DecodedRecord:
        """Returns a record with its key and value as JSON."""
        return DecodedRecord(**vars(record), decoded_key=self._json_of(record.key), decoded_value=self._json_of(record.value))

    def _json_of(self, data: bytes | None) -> DecodedData | None:
        """Returns the JSON of data, None for data without a schema id and in a cluster without schemas."""
        if data is None or not self._has_schemas or (schema_id := schema_id_of(data)) is None:
            return None
        stored = self._registry.index.by_id(DEFAULT_CONTEXT, schema_id)
        if stored is None:
            return DecodedData(schema_id, None, [], None, f"the schema registry has no schema with the id {schema_id}")
        text = error = None
        try:
            text = self._decode(stored, data[HEADER.size :])
        except (InvalidData, InvalidSchema) as refusal:
            error = str(refusal)
        subjects = sorted(self._registry.index.subjects_of(DEFAULT_CONTEXT, schema_id))
        return DecodedData(schema_id, stored.type, subjects, text, error)

    def _decode(self, stored: StoredSchema, content: bytes) -> str:
        """Returns the JSON of the data behind a schema id. Raises InvalidData, InvalidSchema."""
        if len(content) > MAX_BYTES:
            raise InvalidData(f"it has {counted(len(content), 'byte')}; at most {MAX_BYTES} are decoded")
        if self._work_left < 0:
            raise InvalidData("the other records are as many as are decoded at once; ask for fewer")
        self._work_left -= MAX_PARTS
        value = self._decoder(stored)(content)
        if is_longer(value, MAX_CHARACTERS):
            raise InvalidData(f"its JSON has more than {MAX_CHARACTERS} characters")
        text = write_json(value)
        self._work_left += MAX_PARTS - max(len(text), len(content))
        return text

    def _decoder(self, stored: StoredSchema) -> Decode:
        """Returns the function that decodes data of a schema, which is parsed once. Raises InvalidSchema."""
        if stored.id not in self._decoders:
            try:
                self._decoders[stored.id] = decoder_of(self._registry.parser.parse_stored(stored, self._registry.index), MAX_PARTS)
            except (InvalidSchema, RegistryError) as error:
                self._decoders[stored.id] = _reason(error)
        found = self._decoders[stored.id]
        if isinstance(found, str):
            raise InvalidSchema(found)
        return found


def _reason(error: Exception) -> str:
    return error.message if isinstance(error, RegistryError) else str(error)
