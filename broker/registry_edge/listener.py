"""The listener of the schema registry: HTTP with Confluent's media types around the REST interface of `schema_registry/`."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING

from ..controls.http.http_listener import HttpListener
from ..controls.http.requests import Request
from ..controls.http.responses import Problem, Response
from ..faults.options import REGISTRY_API
from ..faults.registry import RegistryCall
from ..schema_registry import resources as _resources  # noqa: F401  (declares the routes)
from ..schema_registry.errors import RegistryError, store_error
from ..schema_registry.rest import Answer, Call, answer, refusal
from ..settings.listeners import TLS_PROTOCOLS
from ..wire.exchange import REGISTRY_REQUEST
from .access import RegistryAccess, RegistryAddress

if TYPE_CHECKING:
    import ssl

    from ..network.server import Server

log = logging.getLogger("odradek.schema_registry")

V1_JSON, REGISTRY_JSON, JSON = "application/vnd.schemaregistry.v1+json", "application/vnd.schemaregistry+json", "application/json"
MAX_SHOWN_CHARACTERS = 200
MAX_MESSAGE_CHARACTERS = 500
_NUMBERS = ("id", "version", "error_code")
"""The members of an answer that its event has, too."""
ACCEPTED = (V1_JSON, REGISTRY_JSON, JSON, "application/octet-stream")
"""The media types of requests."""


class RegistryListener(HttpListener):
    """Serves the registry of a cluster from `start` until `stop`."""

    def __init__(self, server: Server, configured: RegistryAddress) -> None:
        tls = _tls_context(server)
        super().__init__("the schema registry", log, configured.host, configured.port, tls)
        self._cluster = server
        self._configured = configured
        self._access = RegistryAccess(configured.host, server.config.users)

    @property
    def url(self) -> str:
        """The URL for clients."""
        return self._configured.url(int(self.address.rpartition(":")[2]), tls=self._tls is not None)

    def admit(self, request: Request) -> None:
        self._access.check(request.headers)

    async def answer(self, request: Request) -> Response:
        try:
            content_type = _content_type(request)
            return _response(await self._answer(request), content_type)
        except RegistryError as error:
            return _response(refusal(error), V1_JSON)
        except Exception:
            log.exception("an internal error while answering %s", request)
            return _response(refusal(store_error("an internal error, which the log of the cluster describes")), V1_JSON)

    async def _answer(self, request: Request) -> Answer:
        method = "GET" if request.method == "HEAD" else request.method
        call = Call.of(method, request.target, request.body)
        named = RegistryCall(f"/{'/'.join(call.path)}", call.named_subject)
        faults, delay_ms, error = await self._cluster.schemas.pass_faults(named)
        try:
            if error is not None:
                raise error
            size = len(request.body)
            answered = await self._cluster.schemas.run(lambda registry: answer(registry, call), subject=call.subject, size=size)
        except RegistryError as refused:
            answered = refusal(refused)
        numbers = {"id": call.named_id, "delay_ms": delay_ms or None}
        self._record(request, named, answered, faults, {name: number for name, number in numbers.items() if number is not None})
        return answered

    def _record(self, request: Request, call: RegistryCall, answered: Answer, faults: Sequence[str], numbers: Mapping[str, int]) -> None:
        """Adds a request to the record of the cluster, as an event with `numbers` and those of the answer."""
        path, fault = _beginning(call.path), _beginning("; ".join(faults))
        fields: dict[str, str | int] = {"api": REGISTRY_API, "method": request.method, "path": path, "status": answered.status}
        fields |= {"peer": request.peer, **numbers}
        for name, given in (("subject", call.subject), ("software", request.headers.get("user-agent", "")), ("fault", fault)):
            if given:
                fields[name] = _beginning(given)
        if isinstance(answered.body, dict):
            for name in _NUMBERS:
                if isinstance(number := answered.body.get(name), int):
                    fields[name] = number
            if isinstance(message := answered.body.get("message"), str):
                fields["message"] = message[:MAX_MESSAGE_CHARACTERS]
        text = f"{request.method} {path}: {answered.status}{fault and ', ' + fault}"
        self._cluster.core.tell(REGISTRY_REQUEST, text, None, **fields)

    def may_be_cancelled(self, request: Request) -> bool:
        return request.method in ("GET", "HEAD")

    def refusal(self, problem: Problem) -> Response:
        body = {"error_code": problem.status.value, "message": problem.detail}
        return Response(problem.status, JSON, json.dumps(body).encode(), problem.headers)


def _response(answered: Answer, content_type: str) -> Response:
    status = HTTPStatus(answered.status)
    return Response(status) if answered.body is None else Response(status, content_type, answered.encode())


def _beginning(text: str) -> str:
    """Returns the beginning of a text for the record."""
    return text[:MAX_SHOWN_CHARACTERS]


def _content_type(request: Request) -> str:
    """Returns the media type of the response. Raises RegistryError for media types that the registry neither reads nor writes."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.body and given and given not in ACCEPTED:
        raise RegistryError(415, "HTTP 415 Unsupported Media Type")
    accepted = _accepted_type(request.headers.get("accept", "*/*"))
    if accepted is None:
        raise RegistryError(406, "HTTP 406 Not Acceptable")
    return accepted


@lru_cache(maxsize=16)
def _accepted_type(accept: str) -> str | None:
    """Returns the best media type for the header Accept, None if the registry writes none of them. Clients repeat few such headers."""
    ranges = [_range(part) for part in accept.split(",")]
    for _, wanted in sorted(((-quality, wanted) for wanted, quality in ranges if quality > 0), key=lambda each: each[0]):
        if wanted in (V1_JSON, REGISTRY_JSON, JSON):
            return wanted
        if wanted in ("*/*", "application/*"):
            return V1_JSON
    return None


def _range(text: str) -> tuple[str, float]:
    """Returns a media range with its quality, 1 if that is missing or no number."""
    name, *parameters = (part.strip().lower() for part in text.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return name, float(parameter[2:])
            except ValueError:
                break
    return name, 1.0


def _tls_context(server: Server) -> ssl.SSLContext | None:
    """Returns the TLS context of the first node's listener for clients, None if that does not use TLS."""
    node = server.config.nodes[0]
    listener = node.client_listener
    if server.security.tls is None or listener.security_protocol not in TLS_PROTOCOLS:
        return None
    return server.security.tls.get(server.cluster.brokers[node.node_id], listener)


async def serve_schema_registry(server: Server, address: RegistryAddress) -> RegistryListener:
    """Returns a listener that serves the registry of a cluster. Raises OSError if the address is in use."""
    listener = RegistryListener(server, address)
    await listener.start()
    server.schema_registry_url = listener.url
    return listener
