"""Access tokens and their keys."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from functools import cache
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256


def encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def part(value: object) -> str:
    return encoded(value if isinstance(value, bytes) else json.dumps(value).encode())


def unsecured(header: object = None, claims: object = None, signature: str = "") -> str:
    return f"{part({'alg': 'none'} if header is None else header)}.{part(claims)}.{signature}"


class Signer:
    """A key that signs tokens, and its entry in a key set."""

    def __init__(self, algorithm: str, key_id: str = "") -> None:
        self.algorithm, self.key_id = algorithm, key_id or algorithm
        self._key: Any = _rsa_key() if algorithm == "RS256" else ec.generate_private_key(ec.SECP256R1())

    @property
    def jwk(self) -> dict[str, str]:
        numbers = self._key.public_key().public_numbers()
        if self.algorithm == "RS256":
            return {"kid": self.key_id, "kty": "RSA", "n": _number(numbers.n, 256), "e": _number(numbers.e, 3)}
        return {"kid": self.key_id, "kty": "EC", "crv": "P-256", "x": _number(numbers.x, 32), "y": _number(numbers.y, 32)}

    def token(self, claims: object, **header: object) -> str:
        signed = f"{part({'alg': self.algorithm, 'kid': self.key_id, **header})}.{part(claims)}"
        if self.algorithm == "RS256":
            return f"{signed}.{encoded(self._key.sign(signed.encode(), padding.PKCS1v15(), SHA256()))}"
        halves = decode_dss_signature(self._key.sign(signed.encode(), ec.ECDSA(SHA256())))
        return f"{signed}.{encoded(b''.join(half.to_bytes(32, 'big') for half in halves))}"


@cache
def _rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def _number(value: int, size: int) -> str:
    return encoded(value.to_bytes(size, "big"))


def key_set_text(*signers: Signer) -> str:
    return json.dumps({"keys": [signer.jwk for signer in signers]})
