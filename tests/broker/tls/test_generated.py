"""The files of a cluster with generated certificates."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import pkcs12

from odradek.broker.settings.cluster_config import cluster_of
from odradek.broker.tls.generated import STORE_PASSWORD, GeneratedTls

LISTENERS = {
    "listeners": "SSL://0.0.0.0:1000,OTHER://127.0.0.1:2000",
    "advertised.listeners": "SSL://kafka.example.org:1000,OTHER://10.0.0.7:2000",
}


@pytest.fixture
def generated() -> Iterator[GeneratedTls]:
    generated = GeneratedTls(cluster_of([LISTENERS], nodes=2), datetime.now(UTC))
    yield generated
    generated.close()


def test_generated_certificate_has_all_advertised_names(generated: GeneratedTls) -> None:
    leaf, _ = x509.load_pem_x509_certificates(generated.certificate(1).chain)
    names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["kafka.example.org", "localhost"]
    assert list(map(str, names.get_values_for_type(x509.IPAddress))) == ["10.0.0.7", "127.0.0.1", "::1"]
    assert generated.certificate(1) != generated.certificate(2)


def test_generated_files_can_be_read_by_their_user_only(generated: GeneratedTls) -> None:
    files = [generated.ca_file, generated.client_certificate, generated.client_key, generated.client_key_store, generated.trust_store]
    assert {stat.S_IMODE(Path(file).stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE(Path(generated.ca_file).parent.stat().st_mode) == 0o700
    assert Path(generated.ca_file).read_bytes() == generated.ca
    store = pkcs12.load_pkcs12(Path(generated.client_key_store).read_bytes(), STORE_PASSWORD.encode())
    assert store.cert is not None
    assert store.cert.certificate == x509.load_pem_x509_certificate(Path(generated.client_certificate).read_bytes())


def test_generated_files_are_deleted_when_closed(generated: GeneratedTls) -> None:
    directory = Path(generated.ca_file).parent
    generated.close()
    assert not directory.exists()
