"""Reads an X.509 certificate (RFC 5280): its subject as Java writes it, and its alternative names.

Only the few elements that lead to these two are read. A certificate that reaches this module has been verified by OpenSSL; a malformed one
raises ValueError.

The package cryptography does not replace this reader, because listeners with PEM files and client certificates work without that package.
Besides, it writes attributes that RFC 2253 does not name, such as an e-mail address, as text, whereas Java writes them in hexadecimal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

VERSION_TAG, EXTENSIONS_TAG = 0xA0, 0xA3
SUBJECT_ALT_NAME = "2.5.29.17"
KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
"""The attributes that RFC 2253 names; others are written with their object identifier and their encoding in hexadecimal."""
TEXT_ENCODINGS = {0x0C: "utf-8", 0x13: "ascii", 0x14: "latin-1", 0x16: "ascii", 0x1C: "utf-32-be", 0x1E: "utf-16-be"}
SPECIAL = ',+"\\<>;'


class DerElement(NamedTuple):
    """An element in DER: its tag, its content, and all its bytes."""

    tag: int
    content: bytes
    whole: bytes

    def children(self) -> list[DerElement]:
        return list(_elements(self.content))


def subject_of(certificate: bytes) -> str:
    """Returns the subject of a certificate in DER in the form of RFC 2253, as X500Principal.getName(): the last part comes first."""
    names = _signed_part(certificate)[4].children()
    return ",".join("+".join(_attribute(*pair.children()) for pair in name.children()) for name in reversed(names))


def alternative_names_of(certificate: bytes) -> frozenset[bytes]:
    """Returns the subject alternative names of a certificate in DER, each as its encoding."""
    for part in _signed_part(certificate):
        if part.tag == EXTENSIONS_TAG:
            for extension in part.children()[0].children():
                identifier, *_, value = extension.children()
                if _object_identifier(identifier) == SUBJECT_ALT_NAME:
                    (names,) = _elements(value.content)
                    return frozenset(name.whole for name in names.children())
    return frozenset()


def _signed_part(certificate: bytes) -> list[DerElement]:
    """Returns serial number, algorithm, issuer, validity, subject, public key and so on, without the version."""
    try:
        (whole,) = _elements(certificate)
        parts = whole.children()[0].children()
        return parts[1:] if parts[0].tag == VERSION_TAG else parts
    except IndexError:
        raise ValueError("the certificate ends early") from None


def _elements(data: bytes) -> Iterator[DerElement]:
    position = 0
    while position < len(data):
        start, tag, length = position, data[position], data[position + 1]
        position += 2
        if length > 127:
            size = length & 127
            length = int.from_bytes(data[position : position + size], "big")
            position += size
        end = position + length
        if end > len(data):
            raise ValueError(f"an element of {length} bytes does not fit")
        yield DerElement(tag, data[position:end], data[start:end])
        position = end


def _attribute(kind: DerElement, value: DerElement) -> str:
    identifier = _object_identifier(kind)
    encoding = TEXT_ENCODINGS.get(value.tag)
    if identifier in KEYWORDS and encoding is not None:
        return f"{KEYWORDS[identifier]}={_escape(value.content.decode(encoding, 'replace'))}"
    return f"{KEYWORDS.get(identifier, identifier)}=#{value.whole.hex()}"


def _object_identifier(element: DerElement) -> str:
    numbers, number = [], 0
    for byte in element.content:
        number = number << 7 | byte & 127
        if byte < 128:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def _escape(text: str) -> str:
    escaped = "".join(f"\\{character}" if character in SPECIAL else character for character in text)
    if escaped.startswith((" ", "#")):
        escaped = f"\\{escaped}"
    return f"{escaped[:-1]}\\ " if len(text) > 1 and text.endswith(" ") else escaped
