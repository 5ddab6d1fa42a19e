"""Key stores and trust stores of a listener: `ssl.keystore.*` and `ssl.truststore.*`, as PEM in memory.

A store is PEM in a setting (`ssl.keystore.certificate.chain` and `ssl.keystore.key`), a PEM file or a PKCS12 file. JKS is a format of Java
only; the error message contains the command that converts it. No error message contains a key or a password.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ..settings.listener_settings import ListenerSettings
from ..settings.properties import InvalidConfig
from .authority import demand_cryptography

JAVA_MAGIC = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
PRIVATE_KEY = re.compile(rb"-----BEGIN (ENCRYPTED |RSA |EC )?PRIVATE KEY-----.+?-----END \1?PRIVATE KEY-----", re.DOTALL)
STORE_TYPES = ("JKS", "PKCS12", "PEM")


class KeyStore(NamedTuple):
    """A certificate chain and its private key as PEM. `password` decrypts the key, None if it is not encrypted."""

    chain: bytes
    key: bytes
    password: str | None

    def __repr__(self) -> str:
        return "KeyStore(...)"


def key_store_of(settings: ListenerSettings) -> KeyStore | None:
    """Returns the key store that a listener's settings describe, None if they describe none. Raises InvalidConfig."""
    password = settings.text("ssl.key.password") or None
    chain, key = settings.text("ssl.keystore.certificate.chain"), settings.text("ssl.keystore.key")
    if chain or key:
        if settings.text("ssl.keystore.type") != "PEM":
            raise _invalid(settings, "ssl.keystore.certificate.chain and ssl.keystore.key need ssl.keystore.type=PEM")
        return _pem_store(settings, chain.encode() + b"\n" + key.encode(), password)
    location = settings.text("ssl.keystore.location")
    if not location:
        return None
    content = _read(settings, "ssl.keystore", location)
    if settings.text("ssl.keystore.type") == "PEM":
        return _pem_store(settings, content, password)
    return _pkcs12_key_store(settings, content, location)


def trusted_certificates_of(settings: ListenerSettings) -> str | None:
    """Returns the certificates of the trust store as PEM, None if the settings describe none. Raises InvalidConfig."""
    content = settings.text("ssl.truststore.certificates").encode()
    location = settings.text("ssl.truststore.location")
    if content and settings.text("ssl.truststore.type") != "PEM":
        raise _invalid(settings, "ssl.truststore.certificates needs ssl.truststore.type=PEM")
    if not content and not location:
        return None
    if not content:
        content = _read(settings, "ssl.truststore", location)
        if settings.text("ssl.truststore.type") != "PEM":
            content = _pkcs12_certificates(settings, content, location)
    found = CERTIFICATE.findall(content)
    if not found:
        raise _invalid(settings, "the trust store contains no certificate")
    return b"\n".join(found).decode("ascii", "replace")


def _pem_store(settings: ListenerSettings, content: bytes, password: str | None) -> KeyStore:
    chain, key = CERTIFICATE.findall(content), PRIVATE_KEY.search(content)
    if not chain:
        raise _invalid(settings, "the PEM key store contains no certificate (-----BEGIN CERTIFICATE-----)")
    if key is None:
        raise _invalid(settings, "the PEM key store contains no private key (-----BEGIN PRIVATE KEY-----)")
    if key[1] == b"ENCRYPTED " and password is None:
        raise _invalid(settings, "the private key is encrypted; set ssl.key.password")
    return KeyStore(b"\n".join(chain), key[0], password)


def _read(settings: ListenerSettings, store: str, location: str) -> bytes:
    kind = settings.text(f"{store}.type")
    if kind not in STORE_TYPES:
        raise _invalid(settings, f"{store}.type is {kind}; use PEM or PKCS12")
    try:
        content = Path(location).read_bytes()
    except OSError as error:
        raise _invalid(settings, f"cannot read {store}.location {location}: {error.strerror or error}") from None
    if content.startswith(JAVA_MAGIC):
        command = f"keytool -importkeystore -srckeystore {location} -destkeystore {Path(location).stem}.p12 -deststoretype PKCS12"
        raise _invalid(settings, f"{location} is a JKS store, which only Java can read; convert it: {command}")
    if kind != "PEM" and b"-----BEGIN " in content:
        raise _invalid(settings, f"{location} is a PEM file; set {store}.type=PEM")
    return content


def _pkcs12_key_store(settings: ListenerSettings, content: bytes, location: str) -> KeyStore:
    demand_cryptography(f"the PKCS12 store {location}")
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12

    try:
        store = pkcs12.load_pkcs12(content, settings.text("ssl.keystore.password").encode() or None)
    except ValueError:
        raise _invalid(settings, f"cannot open {location}: it is no PKCS12 store, or ssl.keystore.password is wrong") from None
    if store.key is None or store.cert is None:
        raise _invalid(settings, f"{location} contains no private key with its certificate")
    chain = b"".join(each.certificate.public_bytes(Encoding.PEM) for each in (store.cert, *store.additional_certs))
    return KeyStore(chain, store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), None)


def _pkcs12_certificates(settings: ListenerSettings, content: bytes, location: str) -> bytes:
    demand_cryptography(f"the PKCS12 store {location}")
    from cryptography.hazmat.primitives.serialization import Encoding, pkcs12

    try:
        store = pkcs12.load_pkcs12(content, settings.text("ssl.truststore.password").encode() or None)
    except ValueError:
        raise _invalid(settings, f"cannot open {location}: it is no PKCS12 store, or ssl.truststore.password is wrong") from None
    certificates = [*([store.cert] if store.cert else []), *store.additional_certs]
    return b"".join(each.certificate.public_bytes(Encoding.PEM) for each in certificates)


def _invalid(settings: ListenerSettings, problem: str) -> InvalidConfig:
    return InvalidConfig(f"listener {settings.listener_name}: {problem}")
