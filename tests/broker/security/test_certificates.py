"""The subject and the names of certificates, compared with the package cryptography."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from odradek.broker.security.certificates import alternative_names_of, subject_of

KEY = ec.generate_private_key(ec.SECP256R1())
PART = x509.NameAttribute


def der(subject: x509.Name, *names: x509.GeneralName) -> bytes:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(subject, subject, KEY.public_key(), 2**100, now, now + timedelta(1))
    builder = builder.add_extension(x509.BasicConstraints(False, None), critical=True)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(KEY, SHA256()).public_bytes(Encoding.DER)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([PART(NameOID.COMMON_NAME, "alice")], "CN=alice"),
        (
            [
                PART(NameOID.COUNTRY_NAME, "CZ"),
                PART(NameOID.STATE_OR_PROVINCE_NAME, "Bohemia"),
                PART(NameOID.LOCALITY_NAME, "Praha"),
                PART(NameOID.ORGANIZATION_NAME, "Kafka, Franz; & Co"),
                PART(NameOID.ORGANIZATIONAL_UNIT_NAME, 'a+b="c"<d>\\'),
                PART(NameOID.COMMON_NAME, " #alíce "),
            ],
            'CN=\\ #alíce\\ ,OU=a\\+b=\\"c\\"\\<d\\>\\\\,O=Kafka\\, Franz\\; & Co,L=Praha,ST=Bohemia,C=CZ',
        ),
        ([PART(NameOID.DOMAIN_COMPONENT, "org"), PART(NameOID.USER_ID, "a")], "UID=a,DC=org"),
        ([PART(NameOID.EMAIL_ADDRESS, "a@b")], "1.2.840.113549.1.9.1=#1603614062"),
        ([PART(NameOID.COMMON_NAME, "#1")], "CN=\\#1"),
        ([], ""),
    ],
)
def test_subject_is_written_as_java_does(parts: list[x509.NameAttribute[str]], expected: str) -> None:
    assert subject_of(der(x509.Name(parts))) == expected


def test_subject_with_several_attributes_in_one_part() -> None:
    pair = [PART(NameOID.COMMON_NAME, "a"), PART(NameOID.USER_ID, "b")]
    name = x509.Name([x509.RelativeDistinguishedName([each]) for each in pair[:1]] + [x509.RelativeDistinguishedName(pair)])
    assert subject_of(der(name)).count("CN=a") == 2 and "+" in subject_of(der(name))


def test_alternative_names_are_found() -> None:
    subject = x509.Name([PART(NameOID.COMMON_NAME, "a")])
    names = [x509.DNSName("localhost"), x509.DNSName("kafka")]
    both, one, none = der(subject, *names), der(subject, names[0]), der(subject)
    assert alternative_names_of(one) < alternative_names_of(both)
    assert (len(alternative_names_of(both)), alternative_names_of(none)) == (2, frozenset())


@pytest.mark.parametrize("size", [0, 1, 2, 5, 30, 100])
def test_truncated_certificate_raises_value_error(size: int) -> None:
    whole = der(x509.Name([PART(NameOID.COMMON_NAME, "a")]))
    with pytest.raises(ValueError, match=r"certificate ends early|does not fit|not enough values"):
        subject_of(whole[:size])
