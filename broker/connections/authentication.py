"""The frames of a connection that authenticates by SASL: reads them, asks the state machine in `security/sasl.py`, and writes the answers.

`admits` decides for each frame whether it is a request for the handlers. Until a client is authenticated, only ApiVersions, SaslHandshake
and SaslAuthenticate are answered; all other requests are refused without being decoded, except for the error response of Kafka's
ILLEGAL_SASL_STATE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING

from ...protocol.errors import ErrorCode
from ...protocol.frame import LENGTH, Buffer, RequestHeader, encode_response, read_request_header
from ...protocol.messages.api_versions import API_VERSIONS
from ...protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from ...protocol.messages.sasl_handshake import SASL_HANDSHAKE
from ...protocol.schema import Message, ProtocolError
from ..api.context import Client, Context
from ..api.failure import failure
from ..handlers import CloseConnection, unsupported_version
from ..handlers.api_versions import api_versions
from ..scheduling.waiting import Wait
from ..security.certificates import subject_of
from ..security.mechanism import Identity
from ..security.principal_mapping import SETTING as MAPPING_RULES
from ..security.principal_mapping import NoMatchingRule, parse_rules, user_of
from ..security.sasl import SaslRefused, SaslSession, SaslState, Violation
from ..security.sasl_listener import SaslListener
from ..settings.values import ListenerSettings

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.state import ClusterState

Late = Generator[Wait, None, None]
HANDSHAKE_KEY = SASL_HANDSHAKE.key.to_bytes(2, "big")


class Authentication:
    """The authentication of one connection. `write` takes the buffers of an answer."""

    REFUSED_HEADER = RequestHeader(SASL_AUTHENTICATE, 0, 0, None, 0)
    """Stands with REFUSED_REQUEST for a refused request while its answer is delayed."""
    REFUSED_REQUEST = SaslAuthenticateRequest(auth_bytes=b"")

    def __init__(
        self, listener: SaslListener, client: Client, cluster: ClusterState, broker: Broker, write: Callable[[list[Buffer]], None]
    ) -> None:
        self._session: SaslSession = listener.session()
        self._listener = listener
        self._client = client
        self._cluster, self._broker = cluster, broker
        self._write = write

    @property
    def takes_token(self) -> bool:
        """Whether the next frame is a SASL token without a header, as after a SaslHandshake of version 0."""
        return self._session.state is SaslState.AUTHENTICATE and self._session.raw_tokens

    @property
    def max_frame_bytes(self) -> int:
        """The size of the largest frame that is read: before the client is authenticated, `sasl.server.max.receive.size`."""
        complete = self._session.state is SaslState.COMPLETE
        return self._broker.request_max_bytes if complete else self._listener.max_receive_bytes

    @property
    def expires(self) -> bool:
        """Whether the session of the authenticated client ends at some time."""
        return self._session.expires_ms is not None

    def admits(self, frame: memoryview) -> bool:
        """Returns whether a frame is a request of an authenticated client. Raises CloseConnection if its session has expired."""
        session = self._session
        if session.state is not SaslState.COMPLETE:
            return False
        if session.expires_ms is None:
            return True
        if frame[:2] == HANDSHAKE_KEY and session.try_reauthentication():
            return False
        if session.is_expired:
            raise CloseConnection("the session has expired, and the client has not authenticated again")
        return True

    def serve(self, frame: memoryview) -> Late | None:
        """Answers a frame that is not admitted. A refusal is returned as a generator that answers later and then closes the connection.

        Raises CloseConnection or ProtocolError for a client that does not follow the protocol.
        """
        header: RequestHeader | None = None
        try:
            if self.takes_token:
                answer = self._session.raw_token(bytes(frame))
                self._write([LENGTH.pack(len(answer)), answer])
            else:
                header = read_request_header(frame)
                self._respond(header, self._response(header, frame))
        except SaslRefused as refused:
            return self._refuse(header, refused)
        except Violation as violation:
            raise CloseConnection(str(violation)) from None
        if self._session.identity is not None:
            self._client.identify(self._session.identity)
        return None

    def _response(self, header: RequestHeader, frame: memoryview) -> Message:
        api, version, state = header.api, header.version, self._session.state
        if api is API_VERSIONS and state is SaslState.HANDSHAKE_OR_VERSIONS:
            return self._versions(header, frame)
        if state is not SaslState.AUTHENTICATE and api is not SASL_HANDSHAKE:
            raise ProtocolError(
                f"unexpected {api.name} request during SASL handshake; the client may be configured with a security.protocol that"
                f" differs from the listener's, {self._broker.listeners[self._client.listener_name].security_protocol}"
            )
        if version not in self._cluster.serves(api):
            raise ProtocolError(f"{api.name} v{version} is not served")
        request = api.request.decoders[version](frame, header.position)[0]
        if state is not SaslState.AUTHENTICATE:
            return self._session.handshake(request, version)
        if api is SASL_AUTHENTICATE:
            return self._session.authenticate(request)
        reason = f"Unexpected Kafka request of type {_upper_snake(api.name)} during SASL authentication."
        raise SaslRefused(reason, failure(api, request, ErrorCode.ILLEGAL_SASL_STATE, reason))

    def _versions(self, header: RequestHeader, frame: memoryview) -> Message:
        if header.version not in self._cluster.serves(API_VERSIONS):
            return unsupported_version(self._cluster)
        request = API_VERSIONS.request.decoders[header.version](frame, header.position)[0]
        response = api_versions(request, Context(header.version, self._client, self._cluster, self._broker, frame, False, None))
        if not response.error_code:
            self._session.versions_answered()
        return response

    def _respond(self, header: RequestHeader, response: Message) -> None:
        version = header.version if header.version in self._cluster.serves(header.api) else 0
        self._write(encode_response(header.api, version, header.correlation_id, response))

    def _refuse(self, header: RequestHeader | None, refused: SaslRefused) -> Late:
        """Waits for `connection.failed.authentication.delay.ms`, which slows guessing down, then answers and raises CloseConnection."""
        if delay_ms := self._listener.failure_delay_ms:
            yield Wait((), self._cluster.timers.now_ms + delay_ms, what=f"connection.failed.authentication.delay.ms, {delay_ms} ms")
        if header is not None and refused.response is not None:
            self._respond(header, refused.response)
        raise CloseConnection(str(refused))


def identify_by_certificate(client: Client, broker: Broker, certificate: bytes) -> None:
    """Sets the principal of a client of an SSL listener from its certificate in DER. On a SASL_SSL listener, SASL identifies the client.

    Raises CloseConnection if no rule of `ssl.principal.mapping.rules` applies.
    """
    if broker.listeners[client.listener_name].security_protocol == "SSL":
        rules = parse_rules(ListenerSettings(broker.config, client.listener_name).text(MAPPING_RULES))
        try:
            client.identify(Identity(user_of(rules, subject_of(certificate))))
        except (NoMatchingRule, ValueError) as error:
            raise CloseConnection(str(error)) from None


def _upper_snake(name: str) -> str:
    """Returns the name of an API as Kafka's ApiKeys spells it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
