"""A client of schema registries with Confluent's REST API, for the driver and the tasks of a read."""

from __future__ import annotations

import json
import ssl
from base64 import b64encode
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, unquote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

URL_OPTION, CA_OPTION = "schema.registry.url", "schema.registry.ssl.ca.location"
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
TIMEOUT_S = 30.0
MAX_ANSWER_BYTES = 64 * 1024 * 1024
NOT_FOUND = 404


class SchemaRequestFailed(RuntimeError):
    """The registry cannot be reached, or refuses a request."""

    def __init__(self, text: str, status: int = 0) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class RegistryConfig:
    """A registry: its URL, which may contain a user and a password, and the file of certificates that are trusted, "" for the system's."""

    url: str
    ca_file: str = ""

    def check(self) -> None:
        """Raises ValueError for an invalid URL, and for a file of certificates that cannot be used."""
        self._split()
        if self.ca_file:
            self._tls_context()

    def _tls_context(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.ca_file or None)
        except OSError as error:  # also SSLError, for a file without certificates
            raise ValueError(f"Option {CA_OPTION!r} has no certificates: {self.ca_file}: {error.strerror or error}") from None

    @property
    def shown(self) -> str:
        """The URL without user and password, for errors."""
        return self._split()[0]

    def _split(self) -> tuple[str, str]:
        """Returns the URL without its user, and the header by which the user authenticates, "" without one. Raises ValueError."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"Option {URL_OPTION!r} must be a URL such as http://localhost:8081")
        user, _, host = parts.netloc.rpartition("@")
        header = f"Basic {b64encode(unquote(user).encode()).decode()}" if user else ""
        return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", "")), header

    def get(self, path: str) -> Any:
        """Returns the answer to a request. Raises SchemaRequestFailed."""
        url, authorization = self._split()
        headers = {"Accept": MEDIA_TYPE} | ({"Authorization": authorization} if authorization else {})
        context = self._tls_context() if url.startswith("https") else None
        try:
            with urlopen(Request(url + path, headers=headers), timeout=TIMEOUT_S, context=context) as response:
                return json.loads(response.read(MAX_ANSWER_BYTES))
        except HTTPError as error:
            with error:
                raise SchemaRequestFailed(f"The schema registry at {url} refuses {path}: {_reason(error)}", error.code) from None
        except (OSError, HTTPException, ValueError) as error:
            raise SchemaRequestFailed(f"The schema registry at {url} does not answer {path}: {error}") from None


def _reason(error: HTTPError) -> str:
    try:
        answer = json.loads(error.read(MAX_ANSWER_BYTES))
        return f"{answer['error_code']}, {answer['message']}"
    except (ValueError, KeyError, TypeError):
        return f"{error.code} {error.reason}"


def versions_of(registry: RegistryConfig, subject: str) -> list[int]:
    """Returns the versions of a subject, the latest first; none if there is no such subject. Raises SchemaRequestFailed."""
    try:
        return sorted(registry.get(f"/subjects/{quote(subject, safe='')}/versions"), reverse=True)
    except SchemaRequestFailed as error:
        if error.status == NOT_FOUND:
            return []
        raise


def version_of(registry: RegistryConfig, subject: str, version: int) -> Any:
    """Returns a version of a subject with its schema and references, as the registry answers. Raises SchemaRequestFailed."""
    return registry.get(f"/subjects/{quote(subject, safe='')}/versions/{version}")
