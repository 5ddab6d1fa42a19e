"""Generated certificates."""

from __future__ import annotations

import builtins
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs12

from odradek.protocol.client.key_stores import MissingExtra, demand_cryptography
from tests.broker.tls.certificate_files import PASSWORD, authority, certificate


def test_certificate_contains_names_and_addresses() -> None:
    leaf, ca = x509.load_pem_x509_certificates(certificate().chain)
    assert leaf.subject.rfc4514_string() == "CN=localhost"
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert list(map(str, names.get_values_for_type(x509.IPAddress))) == ["127.0.0.1"]
    leaf.verify_directly_issued_by(ca)


def test_certificate_as_pkcs12_has_key_and_chain() -> None:
    store = pkcs12.load_pkcs12(certificate().pkcs12(PASSWORD), PASSWORD.encode())
    assert store.key is not None and store.cert is not None and len(store.additional_certs) == 1
    with pytest.raises(ValueError, match="password"):
        pkcs12.load_pkcs12(certificate().pkcs12(PASSWORD), b"other")


def test_java_trust_store_contains_the_ca() -> None:
    (ca,) = pkcs12.load_pkcs12(authority().java_trust_store(PASSWORD), PASSWORD.encode()).additional_certs
    assert ca.certificate == x509.load_pem_x509_certificate(authority().pem)


def test_certificate_repr_contains_no_key() -> None:
    assert repr(certificate()) == "Certificate(...)"


def test_missing_cryptography_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    found = builtins.__import__

    def without_cryptography(name: str, *rest: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return found(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_cryptography)
    with pytest.raises(MissingExtra, match=r"^TLS needs the package cryptography; install it with pip install 'odradek\[tls\]'$"):
        demand_cryptography("TLS")
