"""The TLS contexts of listeners: which certificate a node shows, whether clients must show one, and the allowed versions and cipher suites.

`TlsContexts.get` returns the context for a new connection. It is built again after settings of the node have changed, because
AlterConfigs can replace certificates at run time (KIP-226). Connections that exist keep theirs.
"""

from __future__ import annotations

import logging
import os
import ssl
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ...protocol.client.key_stores import CERTIFICATE, KeyStore
from ..cluster.broker import Broker
from ..security.certificates import alternative_names_of, subject_of
from ..security.principal_mapping import SETTING as MAPPING_RULES
from ..security.principal_mapping import parse_rules
from ..settings.listeners import TLS_PROTOCOLS, Listener
from ..settings.properties import InvalidConfig
from ..settings.types import Value
from ..settings.values import BrokerConfig, ListenerSettings
from .generated import GeneratedTls
from .handshakes import ListenerContext
from .stores import key_store_of, trusted_certificates_of

VERSIONS = {
    "TLSv1": ssl.TLSVersion.TLSv1,
    "TLSv1.1": ssl.TLSVersion.TLSv1_1,
    "TLSv1.2": ssl.TLSVersion.TLSv1_2,
    "TLSv1.3": ssl.TLSVersion.TLSv1_3,
}
TLS_1_3_PREFIXES = ("TLS_AES_", "TLS_CHACHA20_")
CLIENT_AUTH = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}
FILES = ("ssl.keystore.location", "ssl.truststore.location")

log = logging.getLogger("kafka.network.SocketServer")


class Current(NamedTuple):
    """The context of a listener, its certificate, and the values from which it was built, which are compared by identity."""

    values: Mapping[str, Value]
    context: ssl.SSLContext
    certificate: bytes


class TlsContexts:
    """The contexts of all TLS listeners. Listeners without a key store use the certificates of `generated`, if there are any."""

    def __init__(self, generated: GeneratedTls | None) -> None:
        self._generated = generated
        self._current: dict[tuple[int, str], Current] = {}
        self._forged: dict[tuple[int, str], ssl.SSLContext] = {}
        self.shows_forged: Callable[[Broker], bool] | None = None
        """A function that returns whether a new connection gets a certificate of a CA that no client trusts, if a test wants that."""

    def get(self, broker: Broker, listener: Listener) -> ssl.SSLContext | None:
        """Returns the context for a new connection, None if the listener does not use TLS.

        Raises InvalidConfig for the first connection if the settings are invalid. If they become invalid later, because a file was
        changed, an error is logged and the former context remains in use.
        """
        if listener.security_protocol not in TLS_PROTOCOLS:
            return None
        key = broker.node_id, listener.name
        if self._generated is not None and self.shows_forged is not None and self.shows_forged(broker):
            return self._forged_context(key, listener, broker.config, self._generated)
        current = self._current.get(key)
        if current is None or current.values is not broker.config.values:
            try:
                self._current[key] = self._build(broker.node_id, listener, broker.config)
            except InvalidConfig as error:
                if current is None:
                    raise
                log.error("[KafkaServer id=%d] keeping the former certificate: %s", broker.node_id, error)
                self._current[key] = current._replace(values=broker.config.values)
        return self._current[key].context

    def check(self, broker: Broker, config: BrokerConfig) -> None:
        """Raises InvalidConfig if the TLS listeners of a node could not work with these settings.

        A client may alter configs of a node without being its operator. It can choose only among the stores that the operator has placed in
        one folder, so a location may only name another file beside the present one.
        """
        for listener in broker.listeners.values():
            current = self._current.get((broker.node_id, listener.name))
            if current is None:
                continue
            before, after = ListenerSettings(broker.config, listener.name), ListenerSettings(config, listener.name)
            for name in FILES:
                _check_location(name, before.text(name), after.text(name))
            built = self._build(broker.node_id, listener, config)
            _check_replacement(after, current.certificate, built.certificate)

    def _forged_context(self, key: tuple[int, str], listener: Listener, config: BrokerConfig, generated: GeneratedTls) -> ssl.SSLContext:
        if key not in self._forged:
            settings = ListenerSettings(config, listener.name)
            self._forged[key] = _context(settings, listener)
            _load(self._forged[key], KeyStore(*generated.forged_certificates[key[0]], None), settings)
        return self._forged[key]

    def _build(self, node_id: int, listener: Listener, config: BrokerConfig) -> Current:
        settings = ListenerSettings(config, listener.name)
        parse_rules(settings.text(MAPPING_RULES))
        store, trusted = key_store_of(settings), trusted_certificates_of(settings)
        if self._generated is not None:
            store = store or KeyStore(*self._generated.certificate(node_id), None)
            trusted = trusted or self._generated.ca.decode()
        if store is None:
            problem = "has no key store; set ssl.keystore.*, or use --tls auto (in Python, tls=True)"
            raise InvalidConfig(f"listener {listener.name} uses {listener.security_protocol} but {problem}")
        context = _context(settings, listener)
        _load(context, store, settings)
        _verify_clients(context, settings, listener, trusted)
        first, *_ = CERTIFICATE.findall(store.chain)
        return Current(config.values, context, ssl.PEM_cert_to_DER_cert(first.decode()))


def _context(settings: ListenerSettings, listener: Listener) -> ssl.SSLContext:
    """Returns a context with the enabled versions and cipher suites."""
    context = ListenerContext.of(listener)
    context.options |= ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    enabled, suites = settings.words("ssl.enabled.protocols"), settings.words("ssl.cipher.suites")
    if unknown := [name for name in enabled if name not in VERSIONS]:
        raise InvalidConfig(f"ssl.enabled.protocols contains {unknown[0]}; use some of {', '.join(VERSIONS)}")
    if suites:
        enabled = tuple(name for name in enabled if any(is_of_tls_1_3(suite) == (name == "TLSv1.3") for suite in suites))
    if not enabled:
        raise InvalidConfig("ssl.enabled.protocols and ssl.cipher.suites leave no version of TLS")
    ordered = [name for name in VERSIONS if name in enabled]
    # OpenSSL takes a lowest and a highest version. The names in their order, written one behind the other, contain those that are enabled
    # as one piece only if no version between them is left out.
    if "".join(ordered) not in "".join(VERSIONS):
        raise InvalidConfig(f"ssl.enabled.protocols contains {ordered[0]} and {ordered[-1]}, but not all versions between them; add them")
    context.minimum_version, context.maximum_version = VERSIONS[ordered[0]], VERSIONS[ordered[-1]]
    if names := openssl_list(suites):
        try:
            context.set_ciphers(names)
        except ssl.SSLError:
            raise InvalidConfig(f"ssl.cipher.suites {','.join(suites)}: OpenSSL knows none of these suites") from None
    return context


def is_of_tls_1_3(name: str) -> bool:
    """Returns whether a suite belongs to TLS 1.3, which shares no suite with earlier versions."""
    return name.startswith(TLS_1_3_PREFIXES)


def openssl_name(name: str) -> str:
    """Returns OpenSSL's name for a suite of TLS 1.2 or earlier. A name that is not Java's is returned as it is.

    TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256     ECDHE-RSA-AES128-GCM-SHA256
    TLS_RSA_WITH_AES_256_CBC_SHA              AES256-SHA
    """
    exchange, separator, cipher = name.removeprefix("TLS_").partition("_WITH_")
    if not separator:
        return name
    words = [word for word in cipher.replace("AES_", "AES").replace("3DES_EDE_CBC", "DES-CBC3").split("_") if word != "CBC"]
    if words[-2:] == ["POLY1305", "SHA256"]:
        words.pop()  # OpenSSL leaves out the hash of the only suite of its kind
    return "-".join([*(exchange.split("_") if exchange != "RSA" else []), *words])


def openssl_list(names: Iterable[str]) -> str:
    """Returns OpenSSL's cipher list for the suites of TLS 1.2 and earlier, "" if there is none."""
    return ":".join(openssl_name(name) for name in names if not is_of_tls_1_3(name))


def _load(context: ssl.SSLContext, store: KeyStore, settings: ListenerSettings) -> None:
    """Loads a key store. OpenSSL reads it from a file that only the user can read and that is deleted at once."""
    descriptor, path = tempfile.mkstemp(prefix="odradek-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(store.chain + b"\n" + store.key + b"\n")
        context.load_cert_chain(path, password=store.password or "")
    except (ssl.SSLError, ValueError) as error:
        reason = getattr(error, "reason", None) or "the private key cannot be read"
        problem = f"the certificate and the private key cannot be used ({reason}); check that they belong together, and ssl.key.password"
        raise InvalidConfig(f"listener {settings.listener_name}: {problem}") from None
    finally:
        Path(path).unlink()


def _verify_clients(context: ssl.SSLContext, settings: ListenerSettings, listener: Listener, trusted: str | None) -> None:
    """Sets whether clients must show a certificate. For SASL_SSL only a value of the listener itself acts, as in Kafka (KIP-684)."""
    sasl = listener.security_protocol == "SASL_SSL"
    mode = (settings.override("ssl.client.auth") or "none") if sasl else settings.text("ssl.client.auth")
    if mode not in CLIENT_AUTH:
        raise InvalidConfig(f"Invalid value {mode} for configuration ssl.client.auth: use none, requested or required")
    if mode != "none" and trusted is None:
        raise InvalidConfig(f"listener {listener.name}: ssl.client.auth={mode} needs a trust store; set ssl.truststore.*")
    if trusted is not None:
        try:
            context.load_verify_locations(cadata=trusted)
        except ssl.SSLError:
            raise InvalidConfig(f"listener {listener.name}: the trust store contains a certificate that cannot be read") from None
    context.verify_mode = CLIENT_AUTH[mode]
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # Java trusts every certificate of a trust store, not only those of a CA


def _check_location(name: str, present: str, wanted: str) -> None:
    """Raises InvalidConfig for a file that is not in the folder of the present one. Symbolic links are followed."""
    if wanted in ("", present):
        return
    if not present:
        inline = "ssl.keystore.certificate.chain and ssl.keystore.key, or ssl.truststore.certificates"
        raise InvalidConfig(f"{name} cannot be added while the broker runs; send the certificates in {inline}")
    if not _are_beside(present, wanted):
        raise InvalidConfig(f"{name} can only name another file in the folder of the present one while the broker runs")


def _are_beside(present: str, wanted: str) -> bool:
    try:
        return Path(wanted).resolve().parent == Path(present).resolve().parent
    except (OSError, ValueError, RuntimeError):  # too long, a null character, or a loop of links
        return False


def _check_replacement(settings: ListenerSettings, old: bytes, new: bytes) -> None:
    """Raises InvalidConfig if a new certificate has another subject or lacks names, unless that is allowed (Kafka's SslFactory)."""
    before, after = subject_of(old), subject_of(new)
    if before != after and not settings.value("ssl.allow.dn.changes"):
        raise InvalidConfig(f"Keystore DistinguishedName does not match:  existing={before}, new={after}")
    if not alternative_names_of(old) <= alternative_names_of(new) and not settings.value("ssl.allow.san.changes"):
        raise InvalidConfig("Keystore SubjectAltNames do not match: the new certificate lacks names of the existing one")
