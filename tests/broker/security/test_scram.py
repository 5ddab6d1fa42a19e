"""The server side of SCRAM: the exchange of RFC 7677, scramp as a client, and messages that must be refused."""

from __future__ import annotations

import hashlib
import hmac
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from random import Random
from statistics import fmean, stdev

import pytest
from scramp import ScramClient

from odradek.broker.security.mechanism import AuthenticationFailed, Identity, InvalidCredentials
from odradek.broker.security.scram import Account, ScramServer
from odradek.broker.security.scram_credentials import MECHANISMS, ScramCredential, ScramCredentials, ScramMechanism

SHA_256, SHA_512 = MECHANISMS.values()
RFC_NONCE, RFC_SERVER_NONCE = "rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
RFC_CREDENTIAL = ScramCredential.of_password(SHA_256, b"pencil", b64decode("W22ZaJ0SNY7soEsUEjb6gQ=="))
RFC_FINAL = f"c=biws,r={RFC_NONCE}{RFC_SERVER_NONCE},p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="


def rfc_server() -> ScramServer:
    return ScramServer(SHA_256, lambda name, mechanism, by_token: Account(name, RFC_CREDENTIAL), RFC_SERVER_NONCE)


def server_of(credentials: ScramCredentials, mechanism: ScramMechanism) -> ScramServer:
    def account(name: str, mechanism: ScramMechanism, by_token: bool) -> Account:
        return Account(name, credentials.for_exchange(name, mechanism))

    return ScramServer(mechanism, account, "server")


def client_final(server: ScramServer, first: str, password: bytes, change: Callable[[str], str] = str) -> bytes:
    """Sends client-first to the server, and returns the client-final that belongs to a password. `change` alters it without its proof."""
    header, bare = first[: first.index("n=", 1)], first[first.index("n=", 1) :]
    challenge = server.evaluate(first.encode()).decode()
    nonce, salt, iterations = (part[2:] for part in challenge.split(","))
    credential = ScramCredential.of_password(SHA_256, password, b64decode(salt), int(iterations))
    without_proof = change(f"c={b64encode(header.encode()).decode()},r={nonce}")
    salted = hashlib.pbkdf2_hmac("sha256", password, b64decode(salt), int(iterations))
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    signature = hmac.digest(credential.stored_key, f"{bare},{challenge},{without_proof}".encode(), "sha256")
    proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
    return f"{without_proof},p={b64encode(proof).decode()}".encode()


def test_scram_exchange_of_the_rfc_is_reproduced() -> None:
    server = rfc_server()
    assert (
        server.evaluate(f"n,,n=user,r={RFC_NONCE}".encode())
        == f"r={RFC_NONCE}{RFC_SERVER_NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096".encode()
    )
    assert server.identity is None
    assert server.evaluate(RFC_FINAL.encode()) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    assert server.identity == Identity("user")


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=lambda mechanism: mechanism.name)
@pytest.mark.parametrize("user", ["alice", "a,b=c", "x" * 1000])
def test_scram_client_of_scramp_authenticates(mechanism: ScramMechanism, user: str) -> None:
    credentials = ScramCredentials(Random(1))
    credentials.set_password(user, "pencil")
    server, client = server_of(credentials, mechanism), ScramClient([mechanism.name], user, "pencil")
    client.set_server_first(server.evaluate(client.get_client_first().encode()).decode())
    client.set_server_final(server.evaluate(client.get_client_final().encode()).decode())
    assert server.identity == Identity(user)


@pytest.mark.parametrize("user", ["alice", "nobody"])
def test_scram_wrong_password_and_unknown_user_fail_alike(user: str) -> None:
    credentials = ScramCredentials(Random(1))
    credentials.set_password("alice", "pencil")
    server, client = server_of(credentials, SHA_256), ScramClient([SHA_256.name], user, "wrong")
    client.set_server_first(server.evaluate(client.get_client_first().encode()).decode())
    with pytest.raises(InvalidCredentials, match=r"^the proof does not match the password$"):
        server.evaluate(client.get_client_final().encode())
    assert server.identity is None


@pytest.mark.parametrize(
    "message",
    [
        "",
        "n,,n=user",
        "n,,r=abc",
        "n,,n=,r=abc",
        "n,,n=user,r=",
        "n,,n=us=er,r=abc",
        "n,,n=user,r=a b",
        "n,,n=user,r=abc,1=x",
        "y,,n=user,r=abc",
        "p=tls-unique,,n=user,r=abc",
        "n,,m=future,n=user,r=abc",
        "n,,n=us\0er,r=abc",
        "n,,n=üser,r=abc",
        "n,,n=user,r=abc,",
        RFC_FINAL,
    ],
)
def test_scram_malformed_client_first_is_refused(message: str) -> None:
    with pytest.raises(InvalidCredentials):
        rfc_server().evaluate(message.encode())


def test_scram_other_authorization_id_is_refused() -> None:
    with pytest.raises(AuthenticationFailed, match="different from username"):  # CVE-2017-12610
        rfc_server().evaluate(b"n,a=admin,n=user,r=abc")


def test_scram_own_authorization_id_is_accepted() -> None:
    server = rfc_server()
    assert server.evaluate(client_final(server, "n,a=user,n=user,r=abc", b"pencil")).startswith(b"v=")


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("r=abc", "r=abd"),
        lambda text: text + "x",
        lambda text: text.replace(RFC_SERVER_NONCE, ""),
        lambda text: text.replace("c=biws", "c=eSws"),
        lambda text: text.replace("c=biws", "c="),
    ],
    ids=["other-client-nonce", "longer-nonce", "client-nonce-only", "other-channel-binding", "no-channel-binding"],
)
def test_scram_final_of_another_exchange_is_refused(change: Callable[[str], str]) -> None:
    server = rfc_server()
    final = client_final(server, "n,,n=user,r=abc", b"pencil", change)
    with pytest.raises(InvalidCredentials, match=r"nonce|channel binding"):  # CVE-2024-56128
        server.evaluate(final)
    assert server.identity is None


@pytest.mark.parametrize("proof", ["", "AAAA", "A" * 43 + "=", "not base64", b64encode(bytes(64)).decode()])
def test_scram_final_with_bad_proof_is_refused(proof: str) -> None:
    server = rfc_server()
    server.evaluate(f"n,,n=user,r={RFC_NONCE}".encode())
    with pytest.raises(InvalidCredentials):
        server.evaluate(RFC_FINAL.partition("p=")[0].encode() + b"p=" + proof.encode())


def test_scram_extensions_are_signed_and_ignored() -> None:
    server = rfc_server()
    final = client_final(server, "n,,n=user,r=abc,ext=1,tokenauth=false", b"pencil", lambda text: text + ",more=2")
    assert server.evaluate(final).startswith(b"v=")


def test_scram_token_extension_asks_for_a_token() -> None:
    asked = []

    def account(name: str, mechanism: ScramMechanism, by_token: bool) -> Account:
        asked.append((name, mechanism, by_token))
        return Account("owner", RFC_CREDENTIAL, 5000)

    server = ScramServer(SHA_256, account, "server")
    server.evaluate(client_final(server, "n,,n=user,r=abc,tokenauth=true", b"pencil"))
    assert asked == [("user", SHA_256, True)]
    assert server.identity == Identity("owner", 5000, by_token=True)


def test_scram_times_of_known_and_unknown_users_do_not_differ() -> None:
    """Measures CPU time of whole failing exchanges, alternating, and compares the means with their standard errors."""
    credentials = ScramCredentials(Random(1))
    credentials.set_password("known", "pencil")
    final = f"c=biws,r=abcserver,p={b64encode(bytes(32)).decode()}".encode()

    def exchange(user: str) -> int:
        server = server_of(credentials, SHA_256)
        began_ns = time.thread_time_ns()
        server.evaluate(f"n,,n={user},r=abc".encode())
        with pytest.raises(InvalidCredentials):
            server.evaluate(final)
        return time.thread_time_ns() - began_ns

    times: dict[str, list[int]] = {"known": [], "other": []}
    for number in range(4000):
        for user in sorted(times, reverse=number % 2 == 0):
            times[user].append(exchange(user))
    kept = {user: sorted(measured)[: int(len(measured) * 0.9)] for user, measured in times.items()}  # interrupts are outliers
    means = {user: fmean(measured) for user, measured in kept.items()}
    errors = {user: stdev(measured) / len(measured) ** 0.5 for user, measured in kept.items()}
    for user in times:
        print(f"{user}: n={len(kept[user])} mean={means[user]:.0f} ns standard error={errors[user]:.0f} ns")  # noqa: T201
    # A difference of 2 % is far below what a client can see over a socket; PBKDF2 would make a difference of 10,000 %.
    assert abs(means["known"] - means["other"]) < 5 * sum(errors.values()) + 0.02 * means["known"]
