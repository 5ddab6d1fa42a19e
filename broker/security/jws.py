"""JSON Web Signatures (RFC 7515) and key sets (RFC 7517), as far as access tokens need them: RS256, ES256 and unsecured tokens.

Verification needs the package cryptography, which the extra `tls` installs. Reading an unsecured token does not.

PyJWT (2.15) does not replace this module. It could replace only the verification, because unsecured tokens are read without an extra, and
it answers differently: it accepts padded Base64, refuses a key id that is not a text, takes symmetric keys into a key set, and warns about
short RSA keys. It compares times with the system's clock instead of the cluster's. Its import takes 130 ms and 2.8 MB.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..plurals import counted
from ..settings.properties import InvalidConfig

_BASE_64_URL = re.compile(r"[A-Za-z0-9_-]*")
CURVE_BYTES = 32
"""Size of a coordinate of P-256, and of each half of an ES256 signature."""


class InvalidToken(Exception):
    """A token is malformed, or its signature or its claims are not accepted. The text does not contain the token."""


class Jws(NamedTuple):
    """A token that has been split and decoded, but not verified."""

    header: Mapping[str, Any]
    claims: Mapping[str, Any]
    signed: bytes
    signature: bytes

    @classmethod
    def parse(cls, text: str) -> Jws:
        """Parses the compact serialization. Raises InvalidToken."""
        parts = text.split(".")
        if len(parts) != 3:
            raise InvalidToken(f"{counted(len(parts), 'part')} instead of 3")
        header, claims, signature = map(_decode, parts)
        return cls(_object(header), _object(claims), text.rpartition(".")[0].encode(), signature)


def _decode(part: str) -> bytes:
    if _BASE_64_URL.fullmatch(part) is None or len(part) % 4 == 1:
        raise InvalidToken("a part is not Base64")
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _object(data: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidToken("a part is not JSON") from None
    if not isinstance(value, dict):
        raise InvalidToken("a part is not a JSON object")
    return value


class KeySet:
    """Public keys by their ids. Keys of other algorithms than RS256 and ES256 are ignored."""

    def __init__(self, text: str) -> None:
        """Parses a JSON Web Key Set. Raises InvalidConfig."""
        try:
            keys = json.loads(text)["keys"]
            self._keys = [(key.get("kid"), key["kty"], _public_key(key)) for key in keys if _is_supported(key)]
        except (ValueError, LookupError, TypeError, AttributeError, InvalidToken, RecursionError) as error:
            raise InvalidConfig(f"not a JSON Web Key Set: {type(error).__name__}") from None

    def verify(self, token: Jws) -> None:
        """Raises InvalidToken if no key of the set has signed the token. The algorithm `none` is not accepted."""
        algorithm, key_id = token.header.get("alg"), token.header.get("kid")
        kind = {"RS256": "RSA", "ES256": "EC"}.get(algorithm) if isinstance(algorithm, str) else None
        if kind is None:
            raise InvalidToken("the algorithm is neither RS256 nor ES256")
        keys = [key for known_id, its_kind, key in self._keys if its_kind == kind and (key_id is None or known_id == key_id)]
        if not any(_has_signed(key, token) for key in keys):
            raise InvalidToken("no key of the key set has signed the token")


def _is_supported(key: Mapping[str, Any]) -> bool:
    return key.get("kty") == "RSA" or (key.get("kty") == "EC" and key.get("crv") == "P-256")


def _public_key(key: Mapping[str, Any]) -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec, rsa

    if key["kty"] == "RSA":
        return rsa.RSAPublicNumbers(_number(key["e"]), _number(key["n"])).public_key()
    return ec.EllipticCurvePublicNumbers(_number(key["x"]), _number(key["y"]), ec.SECP256R1()).public_key()


def _number(text: str) -> int:
    return int.from_bytes(_decode(text), "big")


def _has_signed(key: Any, token: Jws) -> bool:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, padding
    from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            if len(token.signature) != 2 * CURVE_BYTES:
                return False
            halves = (int.from_bytes(half, "big") for half in (token.signature[:CURVE_BYTES], token.signature[CURVE_BYTES:]))
            key.verify(encode_dss_signature(*halves), token.signed, ec.ECDSA(SHA256()))
        else:
            key.verify(token.signature, token.signed, padding.PKCS1v15(), SHA256())
    except InvalidSignature:
        return False
    return True
