"""SASL: every API in every state of the handshake, and the messages of each mechanism."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator, Sequence
from hashlib import pbkdf2_hmac
from struct import pack

from odradek.protocol.messages import APIS
from odradek.protocol.messages.alter_user_scram_credentials import (
    ALTER_USER_SCRAM_CREDENTIALS,
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.describe_cluster import DESCRIBE_CLUSTER
from odradek.protocol.messages.describe_user_scram_credentials import (
    DESCRIBE_USER_SCRAM_CREDENTIALS,
    DescribeUserScramCredentialsRequest,
    UserName,
)
from odradek.protocol.messages.metadata import METADATA
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE
from odradek.protocol.schema import Api
from tests.broker.requests import minimal

from ..case import Case, ScramExchange, Send, SendRaw, Step, all_versions
from ..requests import request_of
from ..scram_exchange import SALT

PLAIN_USERS = {"alice": "alice-secret", "bob": "bob-secret", "both": "plain-secret"}
SCRAM_USERS = {"carol": "carol-secret", "both": "scram-secret", "a,b=c": "odd"}
SCRAM = {1: ("SCRAM-SHA-256", "sha256"), 2: ("SCRAM-SHA-512", "sha512")}
MODULES = "org.apache.kafka.common.security"
SETTINGS = {
    "listener.name.sasl.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
    "listener.name.sasl.oauthbearer.sasl.jaas.config": f"{MODULES}.oauthbearer.OAuthBearerLoginModule required "
    'unsecuredLoginStringClaim_sub="broker" unsecuredValidatorRequiredScope="read write" unsecuredValidatorAllowableClockSkewMs="1000";',
    "listener.name.sasl.plain.sasl.jaas.config": f"{MODULES}.plain.PlainLoginModule required "
    + " ".join(f'user_{user}="{password}"' for user, password in PLAIN_USERS.items())
    + ";",
    **{f"listener.name.sasl.{name.lower()}.sasl.jaas.config": f"{MODULES}.scram.ScramLoginModule required;" for name, _ in SCRAM.values()},
    "connection.failed.authentication.delay.ms": "20",
}
LISTENER = "SASL"
VERSIONS = Send(API_VERSIONS, 3, ApiVersionsRequest(client_software_name="a", client_software_version="1"), listener=LISTENER)
STILL_OPEN = Send(METADATA, 1, request_of(METADATA, {"topics": []}), listener=LISTENER)


def handshake(mechanism: str, version: int = 1) -> Send:
    return Send(SASL_HANDSHAKE, version, request_of(SASL_HANDSHAKE, {"mechanism": mechanism}), listener=LISTENER)


def token(data: bytes, version: int = 2) -> Send:
    return Send(SASL_AUTHENTICATE, version, request_of(SASL_AUTHENTICATE, {"auth_bytes": data}), listener=LISTENER)


def raw(data: bytes) -> SendRaw:
    return SendRaw(pack(">i", len(data)) + data, listener=LISTENER)


def login(user: str, password: str | None = None) -> tuple[Send, Send]:
    """Returns the requests that authenticate by PLAIN."""
    return handshake("PLAIN"), token(f"\0{user}\0{password or PLAIN_USERS[user]}".encode())


def upsertion(user: str, number: int, password: str, iterations: int = 4096) -> ScramCredentialUpsertion:
    salt = SALT + user.encode()
    salted = pbkdf2_hmac(SCRAM[number][1], password.encode(), salt, iterations)
    return ScramCredentialUpsertion(name=user, mechanism=number, iterations=iterations, salt=salt, salted_password=salted)


def cases() -> Iterator[Case]:
    yield Case("sasl.set-up", (), tuple(users()))
    yield from _states()
    yield from _sizes()
    yield from _plain()
    yield from _scram()
    yield from _alterations()
    yield from _oauthbearer()


def users() -> Iterator[Step]:
    for number in SCRAM:
        for user, password in SCRAM_USERS.items():
            upsertions = [upsertion(user, number, password, 4096 * number)]
            request = AlterUserScramCredentialsRequest(deletions=[], upsertions=upsertions)
            yield Send(ALTER_USER_SCRAM_CREDENTIALS, 0, request, settles=True)


def _alterations() -> Iterator[Case]:
    """A user that occurs several times in a request, in which its first invalid change decides."""
    good, few, many = 4096, 4095, 16385  # iterations
    for name, deleted, upserted in (
        ("twice", (), (good, good)),
        ("thrice", (), (good, good, good)),
        ("good-then-few", (), (good, few)),
        ("few-then-good", (), (few, good)),
        ("few-then-many", (), (few, many)),
        ("deleted-then-good", (1,), (good,)),
        ("deleted-then-few", (1,), (few,)),
        ("deleted-unknown-mechanism", (9, 9), (good,)),
        ("deleted-twice", (1, 1), ()),
    ):
        for exists in (False, True):
            user = f"sasl.alter.{name}.{exists}"
            before = [_altered((), (upsertion(user, 1, "secret", good),))] if exists else []
            deletions = [ScramCredentialDeletion(name=user, mechanism=mechanism) for mechanism in deleted]
            request = DescribeUserScramCredentialsRequest(users=[UserName(name=user)])
            shown = Send(DESCRIBE_USER_SCRAM_CREDENTIALS, 0, request)
            yield Case(
                user, (), (*before, _altered(deletions, [upsertion(user, 1, "secret", iterations) for iterations in upserted]), shown)
            )


def _altered(deletions: Sequence[ScramCredentialDeletion], upsertions: Sequence[ScramCredentialUpsertion]) -> Send:
    request = AlterUserScramCredentialsRequest(deletions=list(deletions), upsertions=list(upsertions))
    return Send(ALTER_USER_SCRAM_CREDENTIALS, 0, request, settles=True)


def _states() -> Iterator[Case]:
    states: dict[str, tuple[Step, ...]] = {
        "first": (),
        "versions": (VERSIONS,),
        "handshake": (handshake("PLAIN"),),
        "versions-handshake": (VERSIONS, handshake("SCRAM-SHA-256")),
    }
    for name, steps in states.items():
        for api in APIS.values():
            sent = Send(api, api.versions.last, minimal(api), listener=LISTENER)
            yield Case(f"sasl.state.{name}.{api.name}", (), (sent, STILL_OPEN), before=steps)
    yield from _handshakes()
    for api in (API_VERSIONS, SASL_HANDSHAKE, SASL_AUTHENTICATE, DESCRIBE_CLUSTER):
        for version in all_versions(api):
            sent = Send(api, version, minimal(api), listener=LISTENER)
            yield Case(f"sasl.state.complete.{api.name}.v{version}", (), (*login("alice"), sent, STILL_OPEN))
    for acks in (0, 1):
        produce = Send(PRODUCE, 9, request_of(PRODUCE, {"acks": acks, "timeout_ms": 1, "topic_data": []}), listener=LISTENER)
        yield Case(f"sasl.state.handshake.acks-{acks}", (), (handshake("PLAIN"), produce, STILL_OPEN))


def _handshakes() -> Iterator[Case]:
    for version in all_versions(SASL_HANDSHAKE):
        for mechanism in ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER", "plain", "no-such", ""):
            yield Case(f"sasl.handshake.{mechanism}.v{version}", (), (handshake(mechanism, version), handshake(mechanism, version)))
    for version in all_versions(API_VERSIONS):
        versions = Send(API_VERSIONS, version, minimal(API_VERSIONS), listener=LISTENER)
        yield Case(f"sasl.versions.v{version}", (), (versions, versions, handshake("PLAIN"), STILL_OPEN))
    unsupported = Send(API_VERSIONS, 99, b"", listener=LISTENER)
    yield Case("sasl.versions.unsupported", (), (unsupported, VERSIONS, *login("alice"), STILL_OPEN))
    for version in all_versions(SASL_AUTHENTICATE):
        steps = (handshake("PLAIN"), token(b"\0alice\0alice-secret", version), STILL_OPEN)
        yield Case(f"sasl.authenticate.v{version}", (), steps)
        yield Case(f"sasl.authenticate.wrong.v{version}", (), (handshake("PLAIN"), token(b"\0alice\0x", version), STILL_OPEN))
        yield Case(f"sasl.authenticate.malformed.v{version}", (), (handshake("PLAIN"), token(b"", version), STILL_OPEN))
    yield Case("sasl.authenticate.unsupported", (), (handshake("PLAIN"), _unsupported(SASL_AUTHENTICATE), STILL_OPEN))
    yield Case("sasl.handshake.unsupported", (), (_unsupported(SASL_HANDSHAKE), STILL_OPEN))


def _unsupported(api: Api) -> Send:
    return Send(api, api.versions.last + 1, b"\0" * 8, listener=LISTENER)


def _sizes() -> Iterator[Case]:
    for size in (-1, 0, 1, 7, 524_289, 2**31 - 1):
        frame = SendRaw(pack(">i", size) + b"\0" * min(max(size, 0), 100), listener=LISTENER)
        yield Case(f"sasl.size.{size}", (), (frame, STILL_OPEN))
        yield Case(f"sasl.size.handshake.{size}", (), (handshake("PLAIN"), frame, STILL_OPEN))
    yield Case("sasl.size.gssapi", (), (raw(b"\x60\x82\x02\x7a" + bytes(60)), STILL_OPEN))


def _plain() -> Iterator[Case]:
    for word, data in (
        ("right", b"\0alice\0alice-secret"),
        ("authzid", b"alice\0alice\0alice-secret"),
        ("other-authzid", b"bob\0alice\0alice-secret"),
        ("other-authzid-wrong", b"bob\0alice\0x"),
        ("four-parts", b"\0alice\0alice-secret\0more"),
        ("wrong", b"\0alice\0wrong"),
        ("unknown", b"\0nobody\0alice-secret"),
        ("case", b"\0Alice\0alice-secret"),
        ("scram-user", b"\0carol\0carol-secret"),
        ("scram-password", b"\0both\0scram-secret"),
        ("no-user", b"\0\0alice-secret"),
        ("no-password", b"\0alice\0"),
        ("two-parts", b"\0alice"),
        ("one-part", b"alice"),
        ("empty", b""),
        ("no-utf-8", b"\0\xff\xfe\0x"),
    ):
        yield Case(f"sasl.plain.{word}", (), (handshake("PLAIN"), token(data), STILL_OPEN))
        yield Case(f"sasl.plain.raw.{word}", (), (handshake("PLAIN", 0), raw(data), STILL_OPEN))


def _scram() -> Iterator[Case]:
    for mechanism, _ in SCRAM.values():
        for version in (0, 1):
            name = f"sasl.scram.{mechanism}.v{version}"
            for user, password in SCRAM_USERS.items():
                escaped = user.replace("=", "=3D").replace(",", "=2C")
                yield Case(f"{name}.{user}", (), (ScramExchange(mechanism, f"n,,n={escaped},r=abc", password, version), STILL_OPEN))
            yield Case(f"{name}.wrong", (), (ScramExchange(mechanism, "n,,n=carol,r=abc", "x", version), STILL_OPEN))
            yield Case(f"{name}.plain-password", (), (ScramExchange(mechanism, "n,,n=both,r=abc", "plain-secret", version), STILL_OPEN))
            yield Case(f"{name}.unknown", (), (ScramExchange(mechanism, "n,,n=nobody,r=abc", "x", version), STILL_OPEN))
            for word, exchange in _odd_exchanges(mechanism):
                yield Case(f"{name}.{word}", (), (exchange._replace(version=version), STILL_OPEN))
        for word, first in _malformed_first():
            yield Case(f"sasl.scram.{mechanism}.first.{word}", (), (handshake(mechanism), token(first.encode()), STILL_OPEN))


def _odd_exchanges(mechanism: str) -> Iterator[tuple[str, ScramExchange]]:
    plain = ScramExchange(mechanism, "n,,n=carol,r=abc", "carol-secret")
    yield "authzid", plain._replace(first="n,a=carol,n=carol,r=abc")
    yield "other-authzid", plain._replace(first="n,a=bob,n=carol,r=abc")
    yield "extension", plain._replace(first="n,,n=carol,r=abc,x=1")
    yield "no-token", plain._replace(first="n,,n=carol,r=abc,tokenauth=false")
    yield "token", plain._replace(first="n,,n=carol,r=abc,tokenauth=true")
    yield "final-extension", plain._replace(final=lambda text: f"{text},x=1")
    yield "nonce-longer", plain._replace(final=lambda text: f"{text}x")
    yield "nonce-other", plain._replace(final=lambda text: text.replace("r=abc", "r=abd"))
    yield "binding-other", plain._replace(final=lambda text: text.replace("c=biws", f"c={b64encode(b'y,,').decode()}"))
    yield "binding-empty", plain._replace(final=lambda text: text.replace("c=biws", "c="))
    yield "proof-empty", plain._replace(proof=lambda proof: b"")
    yield "proof-short", plain._replace(proof=lambda proof: proof[:-1])
    yield "proof-long", plain._replace(proof=lambda proof: proof + b"\0")
    yield "proof-zero", plain._replace(proof=lambda proof: bytes(len(proof)))


def _malformed_first() -> Iterator[tuple[str, str]]:
    yield "empty", ""
    yield "no-user", "n,,r=abc"
    yield "empty-user", "n,,n=,r=abc"
    yield "equals", "n,,n=a=b,r=abc"
    yield "no-nonce", "n,,n=carol"
    yield "empty-nonce", "n,,n=carol,r="
    yield "space-in-nonce", "n,,n=carol,r=a b"
    yield "binding", "p=tls-unique,,n=carol,r=abc"
    yield "binding-supported", "y,,n=carol,r=abc"
    yield "not-ascii", "n,,n=cärol,r=abc"
    yield "nul", "n,,n=car\0ol,r=abc"


def jws(header: object, claims: object, signature: str = "") -> str:
    parts = (json.dumps(part).encode() if not isinstance(part, bytes) else part for part in (header, claims))
    return ".".join([*(urlsafe_b64encode(part).decode().rstrip("=") for part in parts), signature])


NONE = {"alg": "none"}
CLAIMS = {"sub": "dora", "exp": 4_102_444_800, "scope": ["read", "write", "more"]}
DORA = jws(NONE, CLAIMS)


def _oauthbearer() -> Iterator[Case]:
    def changed(**claims: object) -> str:
        return jws(NONE, {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None})

    tokens = {
        "right": DORA,
        "scope-text": changed(scope="read write"),
        "scope-missing": changed(scope="read"),
        "scope-none": changed(scope=None),
        "no-user": changed(sub=None),
        "empty-user": changed(sub=""),
        "number-user": changed(sub=1),
        "no-expiry": changed(exp=None),
        "expired": changed(exp=1000),
        "expiry-text": changed(exp="4102444800"),
        "expiry-fraction": changed(exp=4_102_444_800.5),
        "issued": changed(iat=1000),
        "issued-in-future": changed(iat=4_102_444_000),
        "issued-after-expiry": changed(iat=4_102_444_801),
        "issued-text": changed(iat="1000"),
        "signed": jws(NONE, CLAIMS, "AAAA"),
        "algorithm": jws({"alg": "HS256"}, CLAIMS),
        "algorithm-missing": jws({}, CLAIMS),
        "no-json": jws(NONE, b"nonsense"),
        "array": jws(NONE, [1]),
        "two-parts": DORA.rstrip("."),
        "four-parts": DORA + "AA.AA",
        "one-part": "AAAA",
    }
    error = token(b"\x01")
    for name, text in tokens.items():
        sent = token(f"n,,\x01auth=Bearer {text}\x01\x01".encode())
        yield Case(f"sasl.oauth.{name}", (), (handshake("OAUTHBEARER"), sent, *(() if name == "right" else (error,)), STILL_OPEN))
    messages = {
        "authzid": f"n,a=dora,\x01auth=Bearer {DORA}\x01\x01",
        "other-authzid": f"n,a=bob,\x01auth=Bearer {DORA}\x01\x01",
        "lower-case": f"n,,\x01auth=bearer {DORA}\x01\x01",
        "scheme": f"n,,\x01auth=Basic {DORA}\x01\x01",
        "pairs": f"n,,\x01host=h\x01auth=Bearer {DORA}\x01port=1\x01\x01",
        "no-auth": "n,,\x01host=h\x01\x01",
        "no-pairs": "n,,\x01\x01",
        "empty": "",
        "unfinished": f"n,,\x01auth=Bearer {DORA}\x01",
        "acknowledgement": "\x01",
        "binding": f"y,,\x01auth=Bearer {DORA}\x01\x01",
    }
    for name, message in messages.items():
        yield Case(f"sasl.oauth.message.{name}", (), (handshake("OAUTHBEARER"), token(message.encode()), STILL_OPEN))
        yield Case(f"sasl.oauth.raw.{name}", (), (handshake("OAUTHBEARER", 0), raw(message.encode()), STILL_OPEN))
    wrong, right = (token(f"n,,\x01auth=Bearer {text}\x01\x01".encode()) for text in ("AAAA", DORA))
    yield Case("sasl.oauth.again", (), (handshake("OAUTHBEARER"), wrong, right, STILL_OPEN))
