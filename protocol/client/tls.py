"""The TLS context of a client: the authorities that it trusts, the certificate that it shows, and whether it compares host names."""

from __future__ import annotations

import os
import ssl
import tempfile
from functools import cache
from pathlib import Path

from .key_stores import InvalidStore, KeyStore, key_store, trusted_certificates
from .settings import TlsSettings


@cache  # stores are read once, because a program opens several connections
def tls_context(settings: TlsSettings) -> ssl.SSLContext:
    """Returns the context for new connections. Without a trust store, the system's certificate authorities are trusted.

    Raises InvalidStore, and MissingExtra for a PKCS12 store without the package cryptography.
    """
    trusted, store = _trusted_certificates(settings), _key_store(settings)
    try:
        context = ssl.create_default_context(cadata=trusted)
    except ssl.SSLError:
        raise InvalidStore("the trust store contains a certificate that cannot be read") from None
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # Java trusts every certificate of a trust store, not only those of a CA
    context.check_hostname = settings.verify_host
    if store is not None:
        _load(context, store)
    return context


def _trusted_certificates(settings: TlsSettings) -> str | None:
    return trusted_certificates(
        settings.truststore_certificates,
        kind=settings.truststore_type,
        location=settings.truststore_location,
        password=settings.truststore_password,
    )


def _key_store(settings: TlsSettings) -> KeyStore | None:
    return key_store(
        settings.keystore_certificate_chain,
        settings.keystore_key,
        kind=settings.keystore_type,
        location=settings.keystore_location,
        password=settings.keystore_password,
        key_password=settings.key_password,
    )


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
