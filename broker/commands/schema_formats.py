"""The options --key-format and --value-format: keys and values as JSON, by the schemas of a registry."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..schema_registry.schemas import InvalidSchema, Reference, Schema, parse_schema
from ..schema_registry.schemas.conversion import Decode, decoder_of, encoder_of
from ..schema_registry.schemas.json_text import write_json
from ..schema_registry.schemas.schema import MAX_NESTING
from ..schema_registry.schemas.wire_format import InvalidData, join_payload, split_payload

if TYPE_CHECKING:
    from ..client.schema_registry import SchemaRegistryClient

MAX_SCHEMA_BYTES = 4 * 1024 * 1024


class SchemaDecoder:
    """Turns data in Confluent's wire format into JSON. Each schema is asked of the registry once."""

    def __init__(self, client: SchemaRegistryClient) -> None:
        self._client = client
        self._decoders: dict[int, tuple[str, Decode]] = {}

    def decode_field(self, payload: bytes | None, data_format: str | None, place: str) -> bytes | None:
        """Returns the JSON of a key or value, or what it is if it has no format. Raises ClientError with its place."""
        from ..client.cluster_client import ClientError
        from ..client.schema_registry import RegistryFailure

        if payload is None or data_format is None:
            return payload
        try:
            return self.decode(payload, data_format)
        except (InvalidData, InvalidSchema, RegistryFailure) as error:
            raise ClientError(f"{place}: {error}") from None

    def decode(self, payload: bytes, data_format: str) -> bytes:
        """Returns the JSON of a key or value. Raises `InvalidData`, `InvalidSchema`, or RegistryFailure if the id is unknown."""
        schema_id, data = split_payload(payload)
        if schema_id not in self._decoders:
            schema = self._load(self._client.schema(schema_id), MAX_NESTING)
            self._decoders[schema_id] = (schema.type.lower(), decoder_of(schema))
        found, decode = self._decoders[schema_id]
        if found != data_format:
            raise InvalidData(f"the schema with the id {schema_id} is of the format {found}, not {data_format}")
        return write_json(decode(data)).encode()

    def _load(self, found: Mapping[str, Any], depth: int) -> Schema:
        """Returns a schema of the registry with those that it refers to."""
        if depth == 0:
            raise InvalidSchema("the references of the schema refer to each other too often")
        references = []
        for each in found.get("references", []):
            version = self._client.version(each["subject"], str(each["version"]))
            references.append(Reference(each["name"], each["subject"], each["version"], self._load(version, depth - 1)))
        return parse_schema(found.get("schemaType", "AVRO"), found["schema"], references)


class SchemaEncoder:
    """Turns JSON into data in Confluent's wire format, for which it registers a schema."""

    def __init__(self, client: SchemaRegistryClient, subject: str, data_format: str, file: str) -> None:
        """Raises ClientError if the registry refuses the schema, and InvalidConfig if the file is no schema."""
        from ...protocol.regular_files import read_bounded
        from ..client.cluster_client import ClientError
        from ..client.schema_registry import RegistryFailure
        from ..settings.properties import InvalidConfig

        schema_type = data_format.upper()
        try:
            text = read_bounded(file, MAX_SCHEMA_BYTES).decode("utf-8", "replace")
            self._encode = encoder_of(parse_schema(schema_type, text, []))
            self._schema_id = client.register(subject, {"schema": text, "schemaType": schema_type})
        except OSError as error:
            raise InvalidConfig(f"cannot read {file}: {error.strerror}") from None
        except InvalidSchema as error:
            raise InvalidConfig(f"{file}: {error}") from None
        except RegistryFailure as error:
            raise ClientError(str(error)) from None

    def encode(self, value: bytes, place: str) -> bytes:
        """Returns the data of a JSON value. Raises InvalidConfig with the place of the value in the input."""
        from ..settings.properties import InvalidConfig

        try:
            return join_payload(self._schema_id, self._encode(value))
        except InvalidData as error:
            raise InvalidConfig(f"{place}: {error}") from None
