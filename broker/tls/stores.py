"""Key stores and trust stores of a listener: `ssl.keystore.*` and `ssl.truststore.*`, as PEM in memory.

A store is PEM in a setting (`ssl.keystore.certificate.chain` and `ssl.keystore.key`), a PEM file or a PKCS12 file
(`protocol/client/key_stores.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from ...protocol.client.key_stores import InvalidStore, KeyStore, key_store, trusted_certificates
from ..settings.properties import InvalidConfig
from ..settings.values import ListenerSettings

T = TypeVar("T")


def _names_the_listener(read: Callable[[ListenerSettings], T]) -> Callable[[ListenerSettings], T]:
    """Returns a function that raises InvalidConfig with the name of the listener, instead of InvalidStore."""

    @wraps(read)
    def named(settings: ListenerSettings) -> T:
        try:
            return read(settings)
        except InvalidStore as error:
            raise InvalidConfig(f"listener {settings.listener_name}: {error}") from None

    return named


@_names_the_listener
def key_store_of(settings: ListenerSettings) -> KeyStore | None:
    """Returns the key store that a listener's settings describe, None if they describe none. Raises InvalidConfig."""
    chain, key, kind = (settings.text(f"ssl.keystore.{name}") for name in ("certificate.chain", "key", "type"))
    if (chain or key) and kind != "PEM":
        raise InvalidStore("ssl.keystore.certificate.chain and ssl.keystore.key need ssl.keystore.type=PEM")
    return key_store(
        chain,
        key,
        kind=kind,
        location=settings.text("ssl.keystore.location"),
        password=settings.text("ssl.keystore.password"),
        key_password=settings.text("ssl.key.password"),
    )


@_names_the_listener
def trusted_certificates_of(settings: ListenerSettings) -> str | None:
    """Returns the certificates of the trust store as PEM, None if the settings describe none. Raises InvalidConfig."""
    certificates, kind = settings.text("ssl.truststore.certificates"), settings.text("ssl.truststore.type")
    if certificates and kind != "PEM":
        raise InvalidStore("ssl.truststore.certificates needs ssl.truststore.type=PEM")
    location, password = settings.text("ssl.truststore.location"), settings.text("ssl.truststore.password")
    return trusted_certificates(certificates, kind=kind, location=location, password=password)
