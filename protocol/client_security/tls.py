"""The TLS context of a client: whom it trusts, the certificate that it shows, and whether it compares host names."""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path

from ..key_stores import (
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
from .settings import TlsSettings


def tls_context(settings: TlsSettings) -> ssl.SSLContext:
    """Returns the context for new connections. Without a trust store, the system's certificate authorities are trusted.

    Raises InvalidStore, and MissingExtra for a PKCS12 store without the package cryptography.
    """
    trusted, store = _trusted(settings), _key_store(settings)
    try:
        context = ssl.create_default_context(cadata=trusted)
    except ssl.SSLError:
        raise InvalidStore("the trust store contains a certificate that cannot be read") from None
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # Java trusts every certificate of a trust store, not only those of a CA
    context.check_hostname = settings.verify_host
    if store is not None:
        _load(context, store)
    return context


def _trusted(settings: TlsSettings) -> str | None:
    if settings.truststore_certificates:
        return pem_certificates(settings.truststore_certificates.encode())
    if not settings.truststore_location:
        return None
    content = read_store(TRUST_STORE, settings.truststore_type, settings.truststore_location)
    if settings.truststore_type != "PEM":
        content = pkcs12_certificates(content, settings.truststore_location, settings.truststore_password)
    return pem_certificates(content)


def _key_store(settings: TlsSettings) -> KeyStore | None:
    password = settings.key_password or None
    if settings.keystore_certificate_chain or settings.keystore_key:
        return pem_key_store(f"{settings.keystore_certificate_chain}\n{settings.keystore_key}".encode(), password)
    if not settings.keystore_location:
        return None
    content = read_store(KEY_STORE, settings.keystore_type, settings.keystore_location)
    if settings.keystore_type == "PEM":
        return pem_key_store(content, password)
    return pkcs12_key_store(content, settings.keystore_location, settings.keystore_password)


def _load(context: ssl.SSLContext, store: KeyStore) -> None:
    """Loads a certificate through a file that only this user can read, because the module ssl reads keys from files only."""
    descriptor, name = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(store.chain + b"\n" + store.key)
        context.load_cert_chain(name, password=store.password or "")
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or "the private key cannot be read"
        problem = f"the certificate and the private key cannot be used ({reason}); check that they belong together, and ssl.key.password"
        raise InvalidStore(problem) from None
    finally:
        Path(name).unlink()
