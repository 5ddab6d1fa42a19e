"""Certificates and keys in the files that tests of TLS load."""

from __future__ import annotations

from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from tests.broker.tls.certificate_files import PASSWORD, certificate

ISSUED = certificate()


def encrypted_key() -> str:
    key = load_pem_private_key(ISSUED.key, None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(PASSWORD.encode())).decode()
