"""Reads and writes messages of a Protobuf schema as JSON, with the package `protobuf`."""

from __future__ import annotations

import base64
from importlib import import_module
from typing import Any

from ..schema import InvalidSchema
from ..wire_format import ByteReader, InvalidData, read_message_indexes, write_zigzag
from .descriptor_writer import serialize_file
from .elements import ProtoFile, ProtoMessage
from .names import ProtoNames
from .schema import ProtobufSchema

FILE = "schema.proto"


class ProtobufMessages:
    """The messages of a schema. Raises `InvalidSchema` if `protobuf` cannot make classes of them."""

    def __init__(self, schema: ProtobufSchema) -> None:
        try:
            from google.protobuf import descriptor_pool
        except ImportError:
            raise InvalidSchema("data of Protobuf need the package protobuf: pip install 'odradek[schema-registry]'") from None
        self._schema = schema
        self._pool = descriptor_pool.DescriptorPool()
        self._added: set[str] = set()
        self._add(FILE, schema.file, schema.names)

    def _add(self, name: str, file: ProtoFile, names: ProtoNames) -> None:
        """Adds a file behind those that it imports. Files that nobody registers come from installed packages."""
        from google.protobuf import descriptor_pb2

        if name in self._added:
            return
        self._added.add(name)
        for imported in (*file.imports, *file.public_imports):
            if imported in self._schema.dependencies:
                dependency = self._schema.dependencies[imported][0]
                self._add(imported, dependency, ProtoNames(dependency, self._schema.dependencies))
            elif imported not in self._added:
                self._added.add(imported)
                self._pool.AddSerializedFile(_known_file(imported))
        described = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(serialize_file(file, names)))
        described.name = name
        try:
            self._pool.Add(described)
        except TypeError as error:
            raise InvalidSchema(f"protobuf refuses the schema: {error}") from None

    def decode(self, data: bytes) -> Any:
        """Returns the JSON of a message behind its path. Raises `InvalidData`."""
        from google.protobuf import json_format
        from google.protobuf.message import DecodeError

        reader = ByteReader(data)
        message = self._new_message(read_message_indexes(reader))
        try:
            message.ParseFromString(reader.rest())
            return json_format.MessageToDict(message, descriptor_pool=self._pool)
        except (DecodeError, json_format.Error, ValueError) as error:
            raise InvalidData(f"the data are no {message.DESCRIPTOR.full_name}: {error}") from None

    def encode(self, value: Any) -> bytes:
        """Returns a JSON value as the first message of the schema, behind its path. Raises `InvalidData`."""
        from google.protobuf import json_format

        message = self._new_message([0])
        try:
            json_format.ParseDict(value, message, descriptor_pool=self._pool)
        except (json_format.Error, ValueError, AttributeError, TypeError) as error:
            raise InvalidData(f"the value is no {message.DESCRIPTOR.full_name}: {error}") from None
        serialized: bytes = message.SerializeToString()
        return write_zigzag(0) + serialized

    def _new_message(self, indexes: list[int]) -> Any:
        from google.protobuf import message_factory

        types, path = self._schema.file.types, []
        for index in indexes:
            messages = [element for element in types if isinstance(element, ProtoMessage)]
            if not 0 <= index < len(messages):
                raise InvalidData(f"the schema has no message with the path {indexes}")
            path.append(messages[index].name)
            types = messages[index].types
        name = ".".join(filter(None, (self._schema.names.package, *path)))
        return message_factory.GetMessageClass(self._pool.FindMessageTypeByName(name))()


def _known_file(name: str) -> bytes:
    """Returns the serialized descriptor of a file such as google/protobuf/timestamp.proto."""
    try:
        module = import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2") if name.startswith("google/") else None
    except ImportError:
        module = None
    if module is None:
        raise InvalidSchema(f"the import {name} is neither a reference nor in an installed package")
    serialized: bytes = module.DESCRIPTOR.serialized_pb
    return serialized
