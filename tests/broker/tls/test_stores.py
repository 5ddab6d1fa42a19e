"""Key stores and trust stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.tls.stores import key_store_of, trusted_certificates_of
from tests.broker.tls.certificate_files import PASSWORD, authority, inline, settings_of, trusting, written
from tests.broker.tls.issued_stores import ISSUED, encrypted_key

JKS = b"\xfe\xed\xfe\xed\0\0\0\2" + bytes(30)


def test_key_store_in_settings_is_read() -> None:
    store = key_store_of(settings_of(inline(ISSUED)))
    assert store is not None
    assert (store.chain.split(), store.key.split(), store.password) == (ISSUED.chain.split(), ISSUED.key.split(), None)


def test_key_store_without_settings_is_none() -> None:
    assert (key_store_of(settings_of({})), trusted_certificates_of(settings_of({}))) == (None, None)


def test_key_store_with_encrypted_key_needs_its_password() -> None:
    settings = inline(ISSUED) | {"ssl.keystore.key": encrypted_key()}
    with pytest.raises(InvalidConfig, match=r"the private key is encrypted; set ssl.key.password"):
        key_store_of(settings_of(settings))
    store = key_store_of(settings_of(settings | {"ssl.key.password": PASSWORD}))
    assert store is not None and store.password == PASSWORD and PASSWORD not in repr(store)


def test_key_store_in_a_pem_file_is_read(tmp_path: Path) -> None:
    location = written(tmp_path / "store.pem", ISSUED.key + ISSUED.chain)
    store = key_store_of(settings_of({"ssl.keystore.type": "PEM", "ssl.keystore.location": location}))
    assert store is not None and store.key.split() == ISSUED.key.split()


@pytest.mark.parametrize("location", ["/dev/zero", "/"])
def test_store_that_is_no_regular_file_is_not_read(location: str) -> None:
    for prefix, read in (("ssl.keystore", key_store_of), ("ssl.truststore", trusted_certificates_of)):
        with pytest.raises(InvalidConfig, match=f"cannot read {prefix}.location {location}: it is a"):
            read(settings_of({f"{prefix}.type": "PEM", f"{prefix}.location": location}))


@pytest.mark.parametrize("kind", ["PKCS12", "JKS"])
def test_key_store_in_a_pkcs12_file_is_read(tmp_path: Path, kind: str) -> None:
    """With the type JKS, which is the default, Java reads PKCS12 too."""
    location = written(tmp_path / "store.p12", ISSUED.pkcs12(PASSWORD))
    settings = {"ssl.keystore.type": kind, "ssl.keystore.location": location, "ssl.keystore.password": PASSWORD}
    store = key_store_of(settings_of(settings))
    assert store is not None and (store.chain.split(), store.key.split()) == (ISSUED.chain.split(), ISSUED.key.split())


@pytest.mark.parametrize(
    ("content", "settings", "complaint"),
    [
        (
            JKS,
            {},
            r"JKS store, which only Java can read; convert it: keytool -importkeystore -srckeystore .*store -dest",
        ),
        (JKS, {"ssl.keystore.type": "PEM"}, "is a JKS store"),
        (ISSUED.chain, {"ssl.keystore.type": "PKCS12"}, r"is a PEM file; set ssl.keystore.type=PEM"),
        (b"nonsense", {"ssl.keystore.password": PASSWORD}, r"no PKCS12 store, or ssl.keystore.password is wrong"),
        (ISSUED.pkcs12(PASSWORD), {"ssl.keystore.password": "other-pass"}, r"ssl.keystore.password is wrong"),
        (authority().java_trust_store(PASSWORD), {"ssl.keystore.password": PASSWORD}, "contains no private key"),
        (ISSUED.chain, {"ssl.keystore.type": "PEM"}, "contains no private key"),
        (ISSUED.key, {"ssl.keystore.type": "PEM"}, "contains no certificate"),
        (b"", {"ssl.keystore.type": "BKS"}, r"ssl.keystore.type is BKS; use PEM or PKCS12"),
    ],
)
def test_key_store_file_invalid_names_the_problem(tmp_path: Path, content: bytes, settings: dict[str, str], complaint: str) -> None:
    location = written(tmp_path / "store", content)
    with pytest.raises(InvalidConfig, match=complaint) as refused:
        key_store_of(settings_of({"ssl.keystore.location": location, **settings}))
    assert "-pass" not in str(refused.value) and "PRIVATE KEY-----\n" not in str(refused.value)


def test_key_store_file_missing_names_the_file() -> None:
    with pytest.raises(InvalidConfig, match=r"cannot read ssl.keystore.location nowhere.p12: No such file"):
        key_store_of(settings_of({"ssl.keystore.location": "nowhere.p12"}))


def test_key_store_in_settings_of_another_type_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"need ssl.keystore.type=PEM"):
        key_store_of(settings_of(inline(ISSUED) | {"ssl.keystore.type": "JKS"}))
    with pytest.raises(InvalidConfig, match=r"needs ssl.truststore.type=PEM"):
        trusted_certificates_of(settings_of(trusting(authority()) | {"ssl.truststore.type": "JKS"}))


def test_trust_store_is_read_from_all_forms(tmp_path: Path) -> None:
    pem = authority().pem.decode().split()
    files = {
        "PEM": written(tmp_path / "ca.pem", authority().pem),
        "PKCS12": written(tmp_path / "ca.p12", authority().java_trust_store(PASSWORD)),
    }
    found = [trusted_certificates_of(settings_of(trusting(authority())))]
    for kind, location in files.items():
        settings = {"ssl.truststore.type": kind, "ssl.truststore.location": location, "ssl.truststore.password": PASSWORD}
        found.append(trusted_certificates_of(settings_of(settings)))
    assert [text.split() if text else text for text in found] == [pem] * 3


def test_trust_store_invalid_is_refused(tmp_path: Path) -> None:
    location = written(tmp_path / "ca.p12", authority().java_trust_store(PASSWORD))
    with pytest.raises(InvalidConfig, match=r"ssl.truststore.password is wrong"):
        trusted_certificates_of(settings_of({"ssl.truststore.location": location, "ssl.truststore.password": "other-pass"}))
    with pytest.raises(InvalidConfig, match="the trust store contains no certificate"):
        trusted_certificates_of(settings_of({"ssl.truststore.type": "PEM", "ssl.truststore.certificates": "nonsense"}))
