"""Key stores and trust stores of a listener: `ssl.keystore.*` and `ssl.truststore.*`, as PEM in memory.

A store is PEM in a setting (`ssl.keystore.certificate.chain` and `ssl.keystore.key`), a PEM file or a PKCS12 file
(`protocol/key_stores.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from ...protocol.key_stores import (
    KEY_STORE,
    TRUST_STORE,
    InvalidStore,
    KeyStore,
    pem_certificates,
    pem_key_store,
    pkcs12_certificates,
    pkcs12_key_store,
    read_store,
)
from ..settings.listener_settings import ListenerSettings
from ..settings.properties import InvalidConfig

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
    password = settings.text("ssl.key.password") or None
    chain, key = settings.text("ssl.keystore.certificate.chain"), settings.text("ssl.keystore.key")
    if chain or key:
        if settings.text("ssl.keystore.type") != "PEM":
            raise InvalidStore("ssl.keystore.certificate.chain and ssl.keystore.key need ssl.keystore.type=PEM")
        return pem_key_store(chain.encode() + b"\n" + key.encode(), password)
    location = settings.text("ssl.keystore.location")
    if not location:
        return None
    kind = settings.text("ssl.keystore.type")
    content = read_store(KEY_STORE, kind, location)
    return (
        pem_key_store(content, password) if kind == "PEM" else pkcs12_key_store(content, location, settings.text("ssl.keystore.password"))
    )


@_names_the_listener
def trusted_certificates_of(settings: ListenerSettings) -> str | None:
    """Returns the certificates of the trust store as PEM, None if the settings describe none. Raises InvalidConfig."""
    content = settings.text("ssl.truststore.certificates").encode()
    location = settings.text("ssl.truststore.location")
    if content and settings.text("ssl.truststore.type") != "PEM":
        raise InvalidStore("ssl.truststore.certificates needs ssl.truststore.type=PEM")
    if not content and not location:
        return None
    if not content:
        kind = settings.text("ssl.truststore.type")
        content = read_store(TRUST_STORE, kind, location)
        if kind != "PEM":
            content = pkcs12_certificates(content, location, settings.text("ssl.truststore.password"))
    return pem_certificates(content)
