"""A certificate authority for tests: creates a CA and certificates in memory, as PEM and as PKCS12 stores for Java.

It needs the package cryptography, which the extra `tls` installs.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from ...protocol.client.key_stores import demand_cryptography

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

VALIDITY = timedelta(days=3650)
CLOCK_SKEW = timedelta(days=1)
"""Certificates are valid from this time before they are created, because clocks of other machines may be behind."""


class Certificate(NamedTuple):
    """A certificate with its chain and its private key, as PEM."""

    chain: bytes
    key: bytes

    def __repr__(self) -> str:
        return "Certificate(...)"

    def pkcs12(self, password: str) -> bytes:
        """Returns a key store for Java."""
        from cryptography import x509
        from cryptography.hazmat.primitives.serialization import load_pem_private_key, pkcs12

        certificate, *others = x509.load_pem_x509_certificates(self.chain)
        key: Any = load_pem_private_key(self.key, None)
        return pkcs12.serialize_key_and_certificates(b"odradek", key, certificate, others, _encryption(password))


class Authority:
    """A CA that was created at `now`. Raises MissingExtra if the package cryptography is not installed."""

    def __init__(self, now: datetime) -> None:
        demand_cryptography("creating certificates")
        from cryptography.hazmat.primitives.asymmetric import ec

        self._now = now
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("odradek test CA")
        self._certificate = self._sign(self._name, self._key, is_ca=True)
        self.pem = _pem(self._certificate)
        """The certificate of the CA."""

    def issue(self, common_name: str, addresses: Iterable[str] = ()) -> Certificate:
        """Returns a new certificate. `addresses` are the host names and IP addresses of a server."""
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._sign(_name(common_name), key, addresses=addresses)
        return Certificate(_pem(certificate) + self.pem, _key_pem(key))

    def java_trust_store(self, password: str) -> bytes:
        """Returns a PKCS12 store that contains the CA as a trusted certificate, as `keytool -importcert` writes it."""
        from cryptography.hazmat.primitives.serialization import pkcs12

        return pkcs12.serialize_java_truststore([pkcs12.PKCS12Certificate(self._certificate, b"odradek")], _encryption(password))

    def _sign(
        self, subject: x509.Name, key: EllipticCurvePrivateKey, *, addresses: Iterable[str] = (), is_ca: bool = False
    ) -> x509.Certificate:
        from cryptography import x509
        from cryptography.hazmat.primitives.hashes import SHA256

        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - CLOCK_SKEW)
            .not_valid_after(self._now + VALIDITY)
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .add_extension(_key_usage(is_ca), critical=True)
        )
        if names := [_general_name(address) for address in dict.fromkeys(addresses)]:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        return builder.sign(self._key, SHA256())


def _name(common_name: str) -> x509.Name:
    from cryptography import x509

    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common_name)])


def _key_usage(is_ca: bool) -> x509.KeyUsage:
    from cryptography import x509

    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_ca,
        crl_sign=is_ca,
        encipher_only=False,
        decipher_only=False,
    )


def _general_name(address: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(address))
    except ValueError:
        return x509.DNSName(address)


def _pem(certificate: x509.Certificate) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.PEM)


def _key_pem(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _encryption(password: str) -> Any:
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption

    return BestAvailableEncryption(password.encode())
