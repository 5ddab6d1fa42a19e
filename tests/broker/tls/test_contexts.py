"""TLS contexts: handshakes in memory with the settings of a listener."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from odradek.broker.settings.properties import InvalidConfig
from odradek.broker.tls.contexts import TlsContexts, is_of_tls_1_3, openssl_list, openssl_name
from tests.broker.harness import World
from tests.broker.tls.certificate_files import PASSWORD, authority, certificate, inline, prefixed, trusting, written

ISSUED = certificate()


class Handshake:
    """A TLS handshake in memory between a listener and a client."""

    def __init__(self, server: ssl.SSLContext, client: ssl.SSLContext) -> None:
        there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.server = server.wrap_bio(there, back, server_side=True)
        self.client = client.wrap_bio(back, there, server_hostname="localhost")
        self.complete = False
        pending: list[Callable[[], None]] = [self.client.do_handshake, self.server.do_handshake]
        for _ in range(10):
            for step in list(pending):
                try:
                    step()
                except ssl.SSLWantReadError:
                    continue
                except ssl.SSLError:
                    return
                pending.remove(step)
        self.complete = not pending


def client_context() -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority().pem.decode())


def world_of(settings: dict[str, str], protocol: str = "SSL") -> World:
    return World(nodes=1, settings={"listeners": "SSL://127.0.0.1:0", "listener.security.protocol.map": f"SSL:{protocol}", **settings})


def contexts_of(world: World) -> TlsContexts:
    """Returns the contexts of a node, after they were built."""
    contexts = TlsContexts(None)
    current(world, contexts)
    return contexts


def current(world: World, contexts: TlsContexts) -> ssl.SSLContext:
    broker = world.cluster.brokers[1]
    context = contexts.get(broker, broker.listeners["SSL"])
    assert context is not None
    return context


def context_of(settings: dict[str, str], protocol: str = "SSL") -> ssl.SSLContext:
    return current(world_of(settings, protocol), TlsContexts(None))


def test_context_completes_a_handshake() -> None:
    done = Handshake(context_of(inline(ISSUED)), client_context())
    assert done.complete and done.client.version() == "TLSv1.3"


def test_context_of_a_plaintext_listener_is_none() -> None:
    world = World(nodes=1)
    broker = world.cluster.brokers[1]
    assert TlsContexts(None).get(broker, broker.listeners["PLAINTEXT"]) is None


@pytest.mark.parametrize(
    ("enabled", "client", "version"),
    [
        ("TLSv1.2,TLSv1.3", ssl.TLSVersion.TLSv1_2, "TLSv1.2"),
        ("TLSv1.2", ssl.TLSVersion.TLSv1_3, None),
        ("TLSv1.3", ssl.TLSVersion.TLSv1_2, None),
        ("TLSv1.3", ssl.TLSVersion.TLSv1_3, "TLSv1.3"),
    ],
)
def test_context_serves_enabled_versions_only(enabled: str, client: ssl.TLSVersion, version: str | None) -> None:
    server, wanted = context_of(inline(ISSUED) | {"ssl.enabled.protocols": enabled}), client_context()
    wanted.minimum_version = wanted.maximum_version = client
    if version is None:
        assert not Handshake(server, wanted).complete
    else:
        assert Handshake(server, wanted).client.version() == version


def test_context_serves_chosen_cipher_suites_only() -> None:
    suites = {"ssl.cipher.suites": "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"}
    done = Handshake(context_of(inline(ISSUED) | suites), client_context())
    assert done.client.cipher() == ("ECDHE-ECDSA-AES256-GCM-SHA384", "TLSv1.2", 256)
    suites = {"ssl.cipher.suites": "TLS_AES_256_GCM_SHA384"}
    assert Handshake(context_of(inline(ISSUED) | suites), client_context()).client.version() == "TLSv1.3"


@pytest.mark.parametrize(
    ("mode", "shown", "complete"),
    [
        ("none", None, True),
        ("requested", None, True),
        ("requested", "first", True),
        ("requested", "other", False),
        ("required", None, False),
        ("required", "first", True),
        ("required", "other", False),
    ],
)
def test_context_demands_certificates_of_clients(mode: str, shown: str | None, complete: bool, tmp_path: Path) -> None:
    server, client = context_of(inline(ISSUED) | trusting(authority()) | {"ssl.client.auth": mode}), client_context()
    if shown is not None:
        issued = certificate("alice", (), shown)
        client.load_cert_chain(written(tmp_path / "client.pem", issued.chain + issued.key))
    done = Handshake(server, client)
    assert done.complete == complete
    if complete and shown:
        assert done.server.getpeercert(binary_form=True)


def test_context_of_sasl_ssl_has_its_own_client_auth() -> None:
    settings = inline(ISSUED) | trusting(authority()) | {"sasl.enabled.mechanisms": "PLAIN", "ssl.client.auth": "required"}
    assert context_of(settings, "SASL_SSL").verify_mode is ssl.CERT_NONE
    assert context_of(settings | prefixed({"ssl.client.auth": "required"}), "SASL_SSL").verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({}, "listener SSL uses SSL but has no key store; set ssl.keystore"),
        (inline(ISSUED) | {"ssl.enabled.protocols": "SSLv3"}, r"ssl.enabled.protocols contains SSLv3; use some of TLSv1"),
        (inline(ISSUED) | {"ssl.enabled.protocols": ""}, "leave no version of TLS"),
        (inline(ISSUED) | {"ssl.enabled.protocols": "TLSv1.3,TLSv1.1"}, "contains TLSv1.1 and TLSv1.3, but not all versions between them"),
        (inline(ISSUED) | {"ssl.enabled.protocols": "TLSv1.3", "ssl.cipher.suites": "TLS_RSA_WITH_AES_256_CBC_SHA"}, "leave no version"),
        (inline(ISSUED) | {"ssl.cipher.suites": "TLS_MAGIC_WITH_ROT13"}, "OpenSSL knows none of these suites"),
        (inline(ISSUED) | {"ssl.client.auth": "required"}, r"ssl.client.auth=required needs a trust store"),
        (inline(ISSUED) | prefixed({"ssl.client.auth": "maybe"}), "Invalid value maybe"),
        (inline(ISSUED) | {"ssl.keystore.key": certificate("other", ()).key.decode()}, r"cannot be used \(KEY_VALUES_MISMATCH\)"),
        (inline(ISSUED) | {"ssl.principal.mapping.rules": "RULE:x"}, "Invalid rule"),
    ],
)
def test_context_with_invalid_settings_is_refused(settings: dict[str, str], complaint: str) -> None:
    with pytest.raises(InvalidConfig, match=complaint):
        context_of(settings)


def test_context_with_wrong_key_password_is_refused_without_it() -> None:
    from tests.broker.tls.issued_stores import encrypted_key

    settings = inline(ISSUED) | {"ssl.keystore.key": encrypted_key(), "ssl.key.password": "other-pass"}
    with pytest.raises(InvalidConfig, match=r"check that they belong together, and ssl.key.password") as refused:
        context_of(settings)
    assert "-pass" not in str(refused.value)


# Replacement at run time


def test_certificate_replaced_is_shown_to_new_connections() -> None:
    world = world_of(inline(ISSUED))
    contexts, broker = contexts_of(world), world.cluster.brokers[1]
    assert current(world, contexts) is current(world, contexts)
    renewed = authority().issue("localhost", ("localhost", "127.0.0.1", "kafka"))
    changes = prefixed(inline(renewed))
    contexts.check(broker, broker.config.with_dynamic(own=changes, cluster_wide={}))
    world.cluster.alter_brokers(broker, changes)
    shown = Handshake(current(world, contexts), client_context()).client.getpeercert()
    assert shown is not None and ("DNS", "kafka") in shown["subjectAltName"]


@pytest.mark.parametrize(
    ("name", "addresses", "complaint", "allowance"),
    [
        ("other", ("localhost", "127.0.0.1"), "Keystore DistinguishedName does not match", "ssl.allow.dn.changes"),
        ("localhost", ("localhost",), "Keystore SubjectAltNames do not match", "ssl.allow.san.changes"),
    ],
)
def test_certificate_of_another_server_is_refused(name: str, addresses: tuple[str, ...], complaint: str, allowance: str) -> None:
    changes = prefixed(inline(certificate(name, addresses)))
    world = world_of(inline(ISSUED))
    broker = world.cluster.brokers[1]
    with pytest.raises(InvalidConfig, match=complaint):
        contexts_of(world).check(broker, broker.config.with_dynamic(own=changes, cluster_wide={}))
    world = world_of(inline(ISSUED) | {allowance: "true"})
    broker = world.cluster.brokers[1]
    contexts_of(world).check(broker, broker.config.with_dynamic(own=changes, cluster_wide={}))


def named_store(path: Path, name: str = "localhost") -> dict[str, str]:
    """Returns the settings of a listener's new key store in a file."""
    location = written(path, certificate(name, ("localhost", "127.0.0.1")).pkcs12(PASSWORD))
    return prefixed({"ssl.keystore.type": "PKCS12", "ssl.keystore.location": location, "ssl.keystore.password": PASSWORD})


def check_of(world: World, changes: dict[str, str]) -> None:
    """Checks changes of a world whose listeners are in use, as a request of a client does."""
    broker = world.cluster.brokers[1]
    contexts_of(world).check(broker, broker.config.with_dynamic(own=changes, cluster_wide={}))


def test_location_may_name_another_file_in_its_folder(tmp_path: Path) -> None:
    world = world_of(named_store(tmp_path / "store.p12"))
    contexts, broker = contexts_of(world), world.cluster.brokers[1]
    before = current(world, contexts)
    changes = named_store(tmp_path / "renewed.p12")
    contexts.check(broker, broker.config.with_dynamic(own=changes, cluster_wide={}))
    world.cluster.alter_brokers(broker, changes)
    assert current(world, contexts) is not before


def test_location_of_an_unsuitable_store_is_refused(tmp_path: Path) -> None:
    world = world_of(named_store(tmp_path / "store.p12"))
    with pytest.raises(InvalidConfig, match="Keystore DistinguishedName does not match"):
        check_of(world, named_store(tmp_path / "other.p12", "other"))
    damaged = prefixed({"ssl.keystore.location": written(tmp_path / "damaged.p12", b"no store")})
    with pytest.raises(InvalidConfig, match="listener SSL"):
        check_of(world, damaged)
    with pytest.raises(InvalidConfig, match=r"cannot read ssl.keystore.location"):
        check_of(world, prefixed({"ssl.keystore.location": str(tmp_path / "none.p12")}))


def test_client_cannot_name_a_file_of_another_folder(tmp_path: Path) -> None:
    (tmp_path / "stores").mkdir()
    world = world_of(named_store(tmp_path / "stores/store.p12"))
    elsewhere = written(tmp_path / "other.p12", ISSUED.pkcs12(PASSWORD))
    (tmp_path / "stores/link.p12").symlink_to(elsewhere)
    (tmp_path / "stores/loop.p12").symlink_to(tmp_path / "stores/loop.p12")
    places = (elsewhere, "stores/../other.p12", "stores/link.p12", "stores/loop.p12", "stores/a\0b", "stores/" + "a" * 5000, "stores/..")
    for place in places:
        with pytest.raises(InvalidConfig):
            check_of(world, prefixed({"ssl.keystore.location": str(tmp_path / place)}))
    for place in places[:3]:
        with pytest.raises(InvalidConfig, match=r"ssl.keystore.location can only name another file in the folder of the present one"):
            check_of(world, prefixed({"ssl.keystore.location": str(tmp_path / place)}))


def test_client_cannot_add_a_store(tmp_path: Path) -> None:
    world = world_of(named_store(tmp_path / "store.p12"))
    changes = prefixed({"ssl.truststore.location": written(tmp_path / "other.p12", ISSUED.pkcs12(PASSWORD))})
    with pytest.raises(InvalidConfig, match=r"ssl.truststore.location cannot be added while the broker runs"):
        check_of(world, changes)


def test_file_that_was_damaged_leaves_the_former_certificate(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    location = written(tmp_path / "store.pem", ISSUED.chain + ISSUED.key)
    world = world_of({"ssl.keystore.type": "PEM", "ssl.keystore.location": location})
    contexts = contexts_of(world)
    before = current(world, contexts)
    written(tmp_path / "store.pem", b"")
    world.cluster.alter_brokers(world.cluster.brokers[1], {"log.cleaner.threads": "1"})
    assert current(world, contexts) is before
    assert "keeping the former certificate: listener SSL: the PEM key store contains no certificate" in caplog.text


NAMES = {
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384": "ECDHE-ECDSA-AES256-SHA384",
    "TLS_DHE_RSA_WITH_AES_128_CBC_SHA256": "DHE-RSA-AES128-SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA": "AES256-SHA",
    "TLS_RSA_WITH_AES_128_GCM_SHA256": "AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "ECDHE-RSA-AES128-GCM-SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
}


@pytest.mark.parametrize(("name", "expected"), NAMES.items())
def test_cipher_suite_has_the_name_of_openssl(name: str, expected: str) -> None:
    assert openssl_name(name) == expected
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers(f"{expected}:@SECLEVEL=0")
    assert expected in [suite["name"] for suite in context.get_ciphers()]


def test_cipher_suites_of_tls_1_3_are_left_out_of_the_list() -> None:
    suites = ["TLS_AES_128_GCM_SHA256", "TLS_CHACHA20_POLY1305_SHA256", "TLS_RSA_WITH_AES_256_CBC_SHA"]
    assert [is_of_tls_1_3(suite) for suite in suites] == [True, True, False]
    assert (openssl_list(suites), openssl_list(suites[:2])) == ("AES256-SHA", "")
