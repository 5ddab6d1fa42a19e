"""Names of cipher suites: `ssl.cipher.suites` uses those of Java and IANA, OpenSSL has its own.

TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256     ECDHE-RSA-AES128-GCM-SHA256
TLS_RSA_WITH_AES_256_CBC_SHA              AES256-SHA
TLS_AES_128_GCM_SHA256                    the same; TLS 1.3 suites have the same names in both
"""

from __future__ import annotations

from collections.abc import Iterable

TLS_1_3_PREFIXES = ("TLS_AES_", "TLS_CHACHA20_")


def is_of_tls_1_3(name: str) -> bool:
    """Returns whether a suite belongs to TLS 1.3, which shares no suite with earlier versions."""
    return name.startswith(TLS_1_3_PREFIXES)


def openssl_name(name: str) -> str:
    """Returns OpenSSL's name for a suite of TLS 1.2 or earlier. A name that is not Java's is returned as it is."""
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
