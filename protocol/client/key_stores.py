"""Reads key stores and trust stores: PEM in settings or files, and PKCS12 files.

JKS is a format of Java only; the error message contains the command that converts it. No error message contains a key or a password. Each
function raises InvalidStore with a text that names the settings by their prefix, `ssl.keystore` or `ssl.truststore`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..regular_files import read_regular

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates

JAVA_MAGIC = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
PRIVATE_KEY = re.compile(rb"-----BEGIN (ENCRYPTED |RSA |EC )?PRIVATE KEY-----.+?-----END \1?PRIVATE KEY-----", re.DOTALL)
MAX_STORE_BYTES = 1024 * 1024
STORE_TYPES = ("JKS", "PKCS12", "PEM")
KEY_STORE, TRUST_STORE = "ssl.keystore", "ssl.truststore"


class InvalidStore(ValueError):
    """A store cannot be read, or does not contain what it should."""


class MissingExtra(ImportError):
    """The package cryptography is not installed. The text names the extra that installs it."""


class KeyStore(NamedTuple):
    """A certificate chain and its private key as PEM. `password` decrypts the key, None if it is not encrypted."""

    chain: bytes
    key: bytes
    password: str | None

    def __repr__(self) -> str:
        return "KeyStore(...)"


def demand_cryptography(purpose: str) -> None:
    """Raises MissingExtra if the package cryptography is not installed."""
    try:
        import cryptography.x509  # noqa: F401
    except ImportError:
        raise MissingExtra(f"{purpose} needs the package cryptography; install it with pip install 'odradek[tls]'") from None


def key_store(chain: str, key: str, *, kind: str, location: str, password: str, key_password: str) -> KeyStore | None:
    """Returns the key store in the PEM texts `chain` and `key`, otherwise that in the file at `location`; None if there is neither.

    `password` opens a PKCS12 store, and `key_password` decrypts the key of a PEM store.
    """
    if chain or key:
        return _pem_key_store(f"{chain}\n{key}".encode(), key_password or None)
    if not location:
        return None
    content = _read(KEY_STORE, kind, location)
    if kind == "PEM":
        return _pem_key_store(content, key_password or None)
    return _pkcs12_key_store(content, location, password)


def trusted_certificates(certificates: str, *, kind: str, location: str, password: str) -> str | None:
    """Returns the certificates in a PEM text, otherwise those of the trust store at `location`, as PEM; None if there is neither."""
    if certificates:
        return _pem_certificates(certificates.encode())
    if not location:
        return None
    content = _read(TRUST_STORE, kind, location)
    return _pem_certificates(content if kind == "PEM" else _pkcs12_certificates(content, location, password))


def _read(prefix: str, kind: str, location: str) -> bytes:
    """Returns the content of a store file after a check of its type."""
    if kind not in STORE_TYPES:
        raise InvalidStore(f"{prefix}.type is {kind}; use PEM or PKCS12")
    try:
        content = read_regular(location, MAX_STORE_BYTES)
    except OSError as error:
        raise InvalidStore(f"cannot read {prefix}.location {location}: {error.strerror or error}") from None
    if content.startswith(JAVA_MAGIC):
        command = f"keytool -importkeystore -srckeystore {location} -destkeystore {Path(location).stem}.p12 -deststoretype PKCS12"
        raise InvalidStore(f"{location} is a JKS store, which only Java can read; convert it: {command}")
    if kind != "PEM" and b"-----BEGIN " in content:
        raise InvalidStore(f"{location} is a PEM file; set {prefix}.type=PEM")
    return content


def _pem_key_store(content: bytes, password: str | None) -> KeyStore:
    """Returns the certificates and the private key in some PEM text. `password` is that of the key."""
    chain, key = CERTIFICATE.findall(content), PRIVATE_KEY.search(content)
    if not chain:
        raise InvalidStore("the PEM key store contains no certificate (-----BEGIN CERTIFICATE-----)")
    if key is None:
        raise InvalidStore("the PEM key store contains no private key (-----BEGIN PRIVATE KEY-----)")
    if key[1] == b"ENCRYPTED " and password is None:
        raise InvalidStore("the private key is encrypted; set ssl.key.password")
    return KeyStore(b"\n".join(chain), key[0], password)


def _pem_certificates(content: bytes) -> str:
    """Returns the certificates in some PEM text, one after the other."""
    found = CERTIFICATE.findall(content)
    if not found:
        raise InvalidStore("the trust store contains no certificate")
    return b"\n".join(found).decode("ascii", "replace")


def _pkcs12_key_store(content: bytes, location: str, password: str) -> KeyStore:
    """Returns the certificates and the private key of a PKCS12 store. Raises MissingExtra without the package cryptography."""
    store = _open_pkcs12(KEY_STORE, content, location, password)
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    if store.key is None or store.cert is None:
        raise InvalidStore(f"{location} contains no private key with its certificate")
    chain = b"".join(each.certificate.public_bytes(Encoding.PEM) for each in (store.cert, *store.additional_certs))
    return KeyStore(chain, store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), None)


def _pkcs12_certificates(content: bytes, location: str, password: str) -> bytes:
    """Returns the certificates of a PKCS12 store as PEM. Raises MissingExtra without the package cryptography."""
    store = _open_pkcs12(TRUST_STORE, content, location, password)
    from cryptography.hazmat.primitives.serialization import Encoding

    certificates = [*([store.cert] if store.cert else []), *store.additional_certs]
    return b"".join(each.certificate.public_bytes(Encoding.PEM) for each in certificates)


def _open_pkcs12(prefix: str, content: bytes, location: str, password: str) -> PKCS12KeyAndCertificates:
    """Returns the opened store. Raises MissingExtra without the package cryptography."""
    demand_cryptography(f"the PKCS12 store {location}")
    from cryptography.hazmat.primitives.serialization import pkcs12

    try:
        return pkcs12.load_pkcs12(content, password.encode() or None)
    except ValueError:
        raise InvalidStore(f"cannot open {location}: it is no PKCS12 store, or {prefix}.password is wrong") from None
