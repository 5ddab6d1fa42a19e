"""TLS contexts of clients from every kind of store, and handshakes with a server in memory."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, load_pem_private_key, pkcs12
from cryptography.x509 import load_pem_x509_certificate

from odradek.protocol.client.key_stores import InvalidStore
from odradek.protocol.client.settings import TlsSettings
from odradek.protocol.client.tls import tls_context

CA = trustme.CA()
SERVER, CLIENT = CA.issue_cert("localhost"), CA.issue_cert("alice@example.org")
CA_PEM = CA.cert_pem.bytes().decode()
CLIENT_CHAIN = b"".join(each.bytes() for each in CLIENT.cert_chain_pems).decode()
CLIENT_KEY = CLIENT.private_key_pem.bytes().decode()
TRUSTS = TlsSettings(truststore_type="PEM", truststore_certificates=CA_PEM)


def shaken(client: ssl.SSLContext, host: str = "localhost", *, demands_certificate: bool = False) -> ssl.SSLObject:
    """Returns the server's side after a handshake in memory. Raises ssl.SSLError."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    SERVER.configure_cert(server)
    CA.configure_trust(server)
    server.verify_mode = ssl.CERT_REQUIRED if demands_certificate else ssl.CERT_NONE
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [client.wrap_bio(to_client, to_server, server_hostname=host), server.wrap_bio(to_server, to_client, server_side=True)]
    waiting = list(ends)
    for _ in range(10):
        for end in list(waiting):
            try:
                end.do_handshake()
                waiting.remove(end)
            except ssl.SSLWantReadError:
                pass
    assert not waiting
    return ends[1]


def store(path: Path, password: bytes) -> str:
    certificate = load_pem_x509_certificate(CLIENT_CHAIN.encode())
    key = load_pem_private_key(CLIENT_KEY.encode(), None)
    ca = load_pem_x509_certificate(CA_PEM.encode())
    encryption = BestAvailableEncryption(password)
    path.write_bytes(pkcs12.serialize_key_and_certificates(b"alice", key, certificate, [ca], encryption))  # type: ignore[arg-type]
    return str(path)


def test_context_trusts_the_given_authority_only() -> None:
    shaken(tls_context(TRUSTS))
    other = TlsSettings(truststore_type="PEM", truststore_certificates=trustme.CA().cert_pem.bytes().decode())
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(tls_context(other))
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(tls_context(TlsSettings()))


def test_host_is_compared_unless_the_algorithm_is_empty() -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shaken(tls_context(TRUSTS), "example.org")
    shaken(tls_context(TlsSettings(truststore_type="PEM", truststore_certificates=CA_PEM, verify_host=False)), "example.org")


def test_stores_of_every_kind_are_read(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(CA_PEM)
    (tmp_path / "client.pem").write_text(CLIENT_CHAIN + CLIENT_KEY)
    p12 = store(tmp_path / "client.p12", b"secret")
    found = [
        TlsSettings("PEM", truststore_certificates=CA_PEM, keystore_certificate_chain=CLIENT_CHAIN, keystore_key=CLIENT_KEY),
        TlsSettings("PEM", str(tmp_path / "ca.pem"), keystore_type="PEM", keystore_location=str(tmp_path / "client.pem")),
        TlsSettings("PKCS12", p12, "secret", keystore_type="PKCS12", keystore_location=p12, keystore_password="secret"),
    ]
    for settings in found:
        certificate = shaken(tls_context(settings), demands_certificate=True).getpeercert()
        assert certificate is not None
        assert datetime.strptime(str(certificate["notAfter"]), "%b %d %H:%M:%S %Y %Z").replace(tzinfo=UTC).year >= 2026


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (TlsSettings("PEM", truststore_certificates="x"), "the trust store contains no certificate"),
        (
            TlsSettings("PEM", truststore_certificates="-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"),
            "contains a certificate that cannot be read",
        ),
        (TlsSettings("PEM", "no-such.pem"), "cannot read ssl.truststore.location no-such.pem: No such file"),
        (TlsSettings("BKS", "some"), "ssl.truststore.type is BKS; use PEM or PKCS12"),
        (TlsSettings(keystore_key=CLIENT_KEY), "the PEM key store contains no certificate"),
        (TlsSettings(keystore_certificate_chain=CLIENT_CHAIN), "the PEM key store contains no private key"),
        (
            TlsSettings(
                keystore_certificate_chain=CLIENT_CHAIN,
                keystore_key="-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----",
            ),
            "the private key is encrypted; set ssl.key.password",
        ),
        (
            TlsSettings(keystore_certificate_chain=CLIENT_CHAIN, keystore_key=CA.issue_cert("other").private_key_pem.bytes().decode()),
            "check that they belong together",
        ),
    ],
)
def test_unusable_store_is_refused(settings: TlsSettings, message: str) -> None:
    with pytest.raises(InvalidStore, match=message):
        tls_context(settings)


def test_unusable_store_files_are_refused(tmp_path: Path) -> None:
    p12, jks, pem = store(tmp_path / "client.p12", b"secret"), tmp_path / "old.jks", tmp_path / "ca.pem"
    jks.write_bytes(b"\xfe\xed\xfe\xed")
    pem.write_text(CA_PEM)
    bare = tmp_path / "bare.p12"
    bare.write_bytes(pkcs12.serialize_key_and_certificates(None, None, None, [load_pem_x509_certificate(CA_PEM.encode())],
                                                           BestAvailableEncryption(b"secret")))  # fmt: skip
    shaken(tls_context(TlsSettings("PKCS12", str(bare), "secret")))
    refused = {
        TlsSettings("PKCS12", p12, "wrong"): "it is no PKCS12 store, or ssl.truststore.password is wrong",
        TlsSettings(keystore_type="PKCS12", keystore_location=p12, keystore_password="x"): "ssl.keystore.password is wrong",
        TlsSettings(keystore_type="PKCS12", keystore_location=str(bare), keystore_password="secret"): "no private key with its certificate",
        TlsSettings("JKS", str(jks)): "keytool -importkeystore .* -destkeystore old.p12 -deststoretype PKCS12",
        TlsSettings("PKCS12", str(pem)): "is a PEM file; set ssl.truststore.type=PEM",
    }
    for settings, message in refused.items():
        with pytest.raises(InvalidStore, match=message):
            tls_context(settings)
