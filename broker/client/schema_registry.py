"""A blocking client of any schema registry with Confluent's REST API, for the commands."""

from __future__ import annotations

import json
import ssl
from base64 import b64encode
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any
from urllib.parse import quote, unquote, urlsplit

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
TIMEOUT_S = 30.0
MAX_ANSWER_BYTES = 64 * 1024 * 1024


class RegistryFailure(Exception):
    """The registry cannot be reached, or has refused a request."""


class InvalidUrl(ValueError):
    """The URL of a registry is malformed."""


class InvalidCaFile(ValueError):
    """The file of certificates to trust cannot be used."""


class SchemaRegistryClient:
    """A client of the registry at a URL, which may contain a user and a password: `https://alice:secret@registry:8081`.

    `ca_file` has the certificates that are trusted, by default those of the system. Raises InvalidUrl, InvalidCaFile.
    """

    def __init__(self, url: str, ca_file: str | None = None) -> None:
        try:
            address = urlsplit(url)
            host, port = address.hostname, address.port
        except ValueError as error:
            raise InvalidUrl(f"invalid URL {url!r} of a schema registry: {error}") from None
        if address.scheme not in ("http", "https") or host is None:
            raise InvalidUrl(f"invalid URL {url!r} of a schema registry: use one such as http://127.0.0.1:8081")
        self._name = f"{host}:{port}" if port else host
        self._path = address.path.rstrip("/")
        self._headers = {"Content-Type": MEDIA_TYPE, "Accept": MEDIA_TYPE}
        if address.username is not None:
            credentials = f"{unquote(address.username)}:{unquote(address.password or '')}"
            self._headers["Authorization"] = f"Basic {b64encode(credentials.encode()).decode()}"
        if address.scheme == "https":
            context = _tls_context(ca_file)
            self._connection: HTTPConnection = HTTPSConnection(host, port, timeout=TIMEOUT_S, context=context)
        else:
            self._connection = HTTPConnection(host, port, timeout=TIMEOUT_S)

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def subjects(self, *, deleted: bool) -> list[str]:
        """Returns the names of the subjects; with `deleted`, also of those that are soft deleted."""
        found: list[str] = self._ask("GET", f"/subjects?deleted={_flag(deleted)}")
        return found

    def version(self, subject: str, version: str) -> dict[str, Any]:
        """Returns a version of a subject, such as "3" or "latest"."""
        found: dict[str, Any] = self._ask("GET", f"/subjects/{_part(subject)}/versions/{_part(version)}")
        return found

    def schema(self, schema_id: int) -> dict[str, Any]:
        """Returns the schema with an id."""
        found: dict[str, Any] = self._ask("GET", f"/schemas/ids/{schema_id}")
        return found

    def register(self, subject: str, schema: Mapping[str, Any]) -> int:
        """Registers a schema, with the members of Confluent's request, and returns its id."""
        return int(self._ask("POST", f"/subjects/{_part(subject)}/versions", schema)["id"])

    def check(self, subject: str, schema: Mapping[str, Any], version: str) -> list[str]:
        """Returns why a schema is incompatible with a version of a subject, or with its versions if that is ""; [] if it is compatible."""
        path = f"/compatibility/subjects/{_part(subject)}/versions{version and '/' + _part(version)}?verbose=true"
        answer = self._ask("POST", path, schema)
        messages: list[str] = answer.get("messages") or ["the registry gives no reason"]
        return [] if answer["is_compatible"] else messages

    def delete(self, subject: str, version: str, *, permanent: bool) -> list[int]:
        """Deletes a version of a subject, or all of them if that is "". Returns the numbers of the deleted versions."""
        rest = f"/versions/{_part(version)}" if version else ""
        deleted = self._ask("DELETE", f"/subjects/{_part(subject)}{rest}?permanent={_flag(permanent)}")
        return [deleted] if isinstance(deleted, int) else list(deleted)

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Returns the body of the answer to a request. Raises RegistryFailure."""
        data = None if body is None else json.dumps(body).encode()
        try:
            self._connection.request(method, self._path + path, data, self._headers)
            response = self._connection.getresponse()
            text = response.read(MAX_ANSWER_BYTES)
        except (OSError, HTTPException) as error:
            raise RegistryFailure(f"no answer from the schema registry at {self._name}: {error or type(error).__name__}") from None
        try:
            answer = json.loads(text)
        except ValueError:
            raise RegistryFailure(f"{self._name} answers {response.status} without JSON; is it a schema registry?") from None
        if response.status >= 300:
            details = answer if isinstance(answer, dict) else {}
            raise RegistryFailure(f"{details.get('error_code', response.status)}: {details.get('message', 'refused')}")
        return answer


def _part(text: str) -> str:
    """Returns a part of a path."""
    return quote(text, safe=":")


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _tls_context(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:  # also SSLError, for a file without certificates
        raise InvalidCaFile(f"{ca_file} cannot be used as the certificates to trust: {error.strerror or error}") from None
