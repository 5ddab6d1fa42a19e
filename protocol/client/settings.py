"""The security settings of a client, under the names of Kafka's Java client.

`ClientSecurity.of` reads them. Passwords and tokens are part of the value, because tasks on other machines need them, but not of its
representation. Each error names the setting, never its value if that may be secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .jaas import SETTING as JAAS
from .jaas import parse_jaas

PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL = "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"
PROTOCOLS = (PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL)
PLAIN, SCRAM_SHA_256, SCRAM_SHA_512, OAUTHBEARER = "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"
MECHANISMS = (PLAIN, SCRAM_SHA_256, SCRAM_SHA_512, OAUTHBEARER)
TOKEN_SETTING = "sasl.oauthbearer.token"
CALLABLE_SETTING = "sasl.login.callback.handler.class"
UNSECURED_PREFIX = "unsecuredLoginStringClaim_"


@dataclass(frozen=True)
class TlsSettings:
    """The settings `ssl.*`: PEM texts, or the locations and types of stores.

    `verify_host` is False for an empty `ssl.endpoint.identification.algorithm`.
    """

    truststore_type: str = "JKS"
    truststore_location: str = ""
    truststore_password: str = field(default="", repr=False)
    truststore_certificates: str = field(default="", repr=False)
    keystore_type: str = "JKS"
    keystore_location: str = ""
    keystore_password: str = field(default="", repr=False)
    keystore_certificate_chain: str = field(default="", repr=False)
    keystore_key: str = field(default="", repr=False)
    key_password: str = field(default="", repr=False)
    verify_host: bool = True

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> TlsSettings:
        """Returns the settings with these names. Raises ValueError for an endpoint identification that is not supported."""
        algorithm = settings.get("ssl.endpoint.identification.algorithm", "https").strip().lower()
        if algorithm not in ("", "https"):
            raise ValueError("ssl.endpoint.identification.algorithm must be https or empty")

        def text(name: str, default: str = "") -> str:
            return settings.get(f"ssl.{name}", default)

        return cls(
            truststore_type=text("truststore.type", "JKS").strip().upper(),
            truststore_location=text("truststore.location").strip(),
            truststore_password=text("truststore.password"),
            truststore_certificates=text("truststore.certificates"),
            keystore_type=text("keystore.type", "JKS").strip().upper(),
            keystore_location=text("keystore.location").strip(),
            keystore_password=text("keystore.password"),
            keystore_certificate_chain=text("keystore.certificate.chain"),
            keystore_key=text("keystore.key"),
            key_password=text("key.password"),
            verify_host=bool(algorithm),
        )


@dataclass(frozen=True)
class ClientSecurity:
    """How a client connects. Without SASL, `mechanism` is empty.

    For OAUTHBEARER, `token` is an access token, or `token_callable` names a function that returns one as "module:function". If both are
    empty, the client shows an unsecured token for `user`.
    """

    protocol: str = PLAINTEXT
    mechanism: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    by_token: bool = False
    """Whether user and password are the id and the HMAC of a delegation token (KIP-48)."""
    token: str = field(default="", repr=False)
    token_callable: str = ""
    tls: TlsSettings | None = None

    @property
    def uses_sasl(self) -> bool:
        return bool(self.mechanism)

    @classmethod
    def of(cls, settings: Mapping[str, str]) -> ClientSecurity:
        """Returns the security that the settings `security.protocol`, `sasl.*` and `ssl.*` describe. Raises ValueError."""
        protocol = settings.get("security.protocol", PLAINTEXT).strip().upper()
        if protocol not in PROTOCOLS:
            raise ValueError(f"security.protocol must be one of {', '.join(PROTOCOLS)}, not {protocol}")
        tls = TlsSettings.of(settings) if protocol in (SSL, SASL_SSL) else None
        if protocol in (PLAINTEXT, SSL):
            return cls(protocol, tls=tls)
        mechanism = settings.get("sasl.mechanism", "GSSAPI").strip().upper()
        if mechanism not in MECHANISMS:
            raise ValueError(f"sasl.mechanism must be one of {', '.join(MECHANISMS)}, not {mechanism}")
        options = parse_jaas(settings[JAAS]).options if JAAS in settings else {}
        if mechanism == OAUTHBEARER:
            token, handler = settings.get(TOKEN_SETTING, ""), settings.get(CALLABLE_SETTING, "").strip()
            user = options.get(f"{UNSECURED_PREFIX}sub", "")
            if not (token or user or ":" in handler):
                choices = (
                    f"{TOKEN_SETTING}, {CALLABLE_SETTING}=module:function, or {JAAS} with {UNSECURED_PREFIX}sub for an unsecured token"
                )
                raise ValueError(f"OAUTHBEARER needs {choices}")
            # A name without a colon is a class of Java, such as the one that makes unsecured tokens.
            return cls(protocol, mechanism, user, token=token, token_callable=handler if ":" in handler else "", tls=tls)
        user, password = options.get("username", ""), options.get("password", "")
        if not user or not password:
            raise ValueError(f"{mechanism} needs {JAAS} with username and password")
        return cls(protocol, mechanism, user, password, options.get("tokenauth", "").lower() == "true", tls=tls)
