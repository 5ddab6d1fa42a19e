"""Names of cipher suites, compared with the suites that this machine's OpenSSL has."""

from __future__ import annotations

import ssl

import pytest

from odradek.broker.tls.cipher_suites import is_of_tls_1_3, openssl_list, openssl_name

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
