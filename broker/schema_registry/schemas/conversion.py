"""Turns the data of a schema into JSON, and JSON into data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .json_text import read_json, write_json
from .schema import MAX_PARTS, InvalidSchema, Schema
from .wire_format import InvalidData

Decode = Callable[[bytes], Any]
"""Returns the JSON value of data. Raises `InvalidData`."""
Encode = Callable[[bytes], bytes]
"""Returns the data of JSON. Raises `InvalidData`."""


def decoder_of(schema: Schema, max_parts: int = MAX_PARTS) -> Decode:
    """Returns the function that turns the data behind a schema id into JSON. Raises InvalidSchema.

    Avro data may have at most `max_parts` fields and items, some of which need no bytes.
    """
    from .avro.schema import AvroSchema
    from .protobuf.schema import ProtobufSchema

    if isinstance(schema, AvroSchema):
        from .avro.values import decode_avro

        return lambda data: decode_avro(schema.root, data, max_parts)
    if isinstance(schema, ProtobufSchema):
        from .protobuf.values import ProtobufMessages

        return ProtobufMessages(schema).decode
    return _read


def encoder_of(schema: Schema) -> Encode:
    """Returns the function that turns JSON into the data behind a schema id. Raises InvalidSchema."""
    from .avro.schema import AvroSchema
    from .protobuf.schema import ProtobufSchema

    if isinstance(schema, AvroSchema):
        from .avro.values import encode_avro

        return lambda value: encode_avro(schema.root, _read(value))
    if isinstance(schema, ProtobufSchema):
        from .protobuf.values import ProtobufMessages

        messages = ProtobufMessages(schema)
        return lambda value: messages.encode(_read(value))
    return lambda value: write_json(_read(value)).encode()


def _read(text: bytes) -> Any:
    """Returns the JSON value of `text`. Raises `InvalidData`."""
    try:
        return read_json(text.decode())
    except UnicodeDecodeError:
        raise InvalidData("the data are not UTF-8") from None
    except InvalidSchema as error:
        raise InvalidData(str(error).replace("the schema", "the value")) from None
