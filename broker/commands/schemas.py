"""`odradek schemas`: lists, shows, registers, checks and deletes the schemas of any schema registry."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .cluster_access import FAILED, show
from .options import add_registry_option, refuse, registry_client

if TYPE_CHECKING:
    from ..client.schema_registry import SchemaRegistryClient

EXAMPLES = """\
examples:
  odradek schemas
  odradek schemas register orders-value order.avsc
  odradek schemas check orders-value order.avsc; echo "exit code $?"
  odradek schemas get orders-value --version 2
  odradek schemas delete orders-value --permanent
"""
INPUT = "-"
MAX_FILE_BYTES = 4 * 1024 * 1024
TYPES = {".avsc": "AVRO", ".json": "JSON", ".proto": "PROTOBUF"}
"""The languages of schemas by the ends of file names."""


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Carries out the command. Returns 1 if the registry refuses or the schema is incompatible, and 2 for a mistake in the call."""
    from ..client.schema_registry import RegistryFailure

    actions = {"list": _list, "get": _get, "register": _register, "check": _check, "delete": _delete}
    try:
        client = registry_client(options, environ)
    except ValueError as error:
        return refuse(str(error))
    try:
        return actions[options.action](client, options, environ)
    except RegistryFailure as error:
        print(f"odradek: {error}", file=sys.stderr)
        return FAILED
    except OSError as error:
        return refuse(f"{error.filename}: {error.strerror}")
    finally:
        client.close()


def _list(client: SchemaRegistryClient, options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    show([{"subject": subject} for subject in client.subjects(deleted=options.deleted)], options, environ)
    return 0


def _get(client: SchemaRegistryClient, options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    del environ
    found = client.schema(int(options.subject)) if options.id else client.version(options.subject, options.version)
    print(found["schema"])
    return 0


def _register(client: SchemaRegistryClient, options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    show([{"subject": options.subject, "id": client.register(options.subject, _schema(options))}], options, environ)
    return 0


def _check(client: SchemaRegistryClient, options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    messages = client.check(options.subject, _schema(options), options.version)
    show([{"subject": options.subject, "compatible": not messages, "reasons": messages}], options, environ)
    return 1 if messages else 0


def _delete(client: SchemaRegistryClient, options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    versions = client.delete(options.subject, options.version, permanent=options.permanent)
    show([{"subject": options.subject, "deleted": version} for version in versions], options, environ)
    return 0


def _schema(options: argparse.Namespace) -> dict[str, Any]:
    """Returns the schema in the file of the options, with the members of Confluent's request. Raises OSError."""
    if options.file == INPUT:
        text = sys.stdin.read(MAX_FILE_BYTES)
    else:
        from ...protocol.regular_files import read_bounded

        text = read_bounded(options.file, MAX_FILE_BYTES).decode("utf-8", "replace")
    ends = (kind for end, kind in TYPES.items() if options.file.endswith(end))
    return {"schema": text, "schemaType": options.type or next(ends, "AVRO"), "references": [dict(each) for each in options.reference]}


def reference(text: str) -> dict[str, Any]:
    """Returns the reference in `NAME=SUBJECT:VERSION`. Raises ArgumentTypeError."""
    name, _, rest = text.partition("=")
    subject, _, version = rest.rpartition(":")
    if not name or not subject or not version.isdecimal():
        raise argparse.ArgumentTypeError(f"invalid reference {text!r}: use NAME=SUBJECT:VERSION, such as Customer=customers-value:1")
    return {"name": name, "subject": subject, "version": int(version)}


def add_options(schemas: argparse.ArgumentParser) -> None:
    actions = schemas.add_subparsers(dest="action", title="commands", metavar="list|get|register|check|delete")
    listing = actions.add_parser("list", help="list the subjects")
    listing.add_argument("--deleted", action="store_true", help="list soft-deleted subjects too")
    getting = actions.add_parser("get", help="print the schema of a subject, or the one with an id")
    getting.add_argument("subject", metavar="SUBJECT|ID", help="name of a subject, or with --id an id")
    getting.add_argument("--id", action="store_true", help="print the schema with this id, as records contain it")
    getting.add_argument("--version", default="latest", metavar="N", help="version of the subject (default: latest)")
    registering = actions.add_parser("register", help="register a schema")
    checking = actions.add_parser("check", help="exit with 0 if a schema is compatible, otherwise print the reasons and exit with 1")
    checking.add_argument(
        "--version", default="", metavar="N", help="compare with this version (default: those of the compatibility level)"
    )
    for action in (registering, checking):
        action.add_argument("subject", metavar="SUBJECT", help="name of the subject, such as orders-value")
        action.add_argument("file", metavar="FILE", help="file of the schema; - is standard input")
        type_help = "language of the schema (default: by the name of the file, otherwise AVRO)"
        action.add_argument("--type", choices=sorted(TYPES.values()), help=type_help)
        reference_help = "a schema to which this one refers; repeatable"
        action.add_argument("--reference", action="append", default=[], type=reference, metavar="NAME=SUBJECT:VERSION", help=reference_help)
    deleting = actions.add_parser("delete", help="delete a subject or one of its versions")
    deleting.add_argument("subject", metavar="SUBJECT", help="name of the subject")
    deleting.add_argument("--version", default="", metavar="N", help="delete this version only")
    deleting.add_argument("--permanent", action="store_true", help="delete what is soft deleted already, so that its id is unknown")
    for parser in (schemas, listing, getting, registering, checking, deleting):
        add_registry_option(parser, default=argparse.SUPPRESS)
        output_help = "format of the output (default: table)"
        parser.add_argument("--output", choices=("table", "json"), default=argparse.SUPPRESS, help=output_help)
    schemas.set_defaults(action="list", deleted=False, schema_registry=None, registry_ca_file=None, output="table")
