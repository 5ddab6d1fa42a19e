"""The parser of sasl.jaas.config."""

from __future__ import annotations

import pytest

from odradek.protocol.client.jaas import InvalidJaas, parse_jaas

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f"{PLAIN} required;", {}),
        (f'{PLAIN} required username="admin" user_alice="s3 cret; x=\\"y\\"";', {"username": "admin", "user_alice": 's3 cret; x="y"'}),
        (f"{PLAIN} REQUIRED\n  debug=true\n  user_a-b.c = x_1 ;\n", {"debug": "true", "user_a-b.c": "x_1"}),
        (f'{PLAIN} optional empty="";', {"empty": ""}),
        (f'{PLAIN} sufficient tab="a\\tb\\\\c";', {"tab": "a\tb\\c"}),
    ],
)
def test_jaas_login_module_is_parsed(text: str, options: dict[str, str]) -> None:
    assert parse_jaas(text) == (PLAIN, options)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "Login module not specified"),
        (";", "Login module not specified"),
        (PLAIN, "not terminated by semi-colon"),
        (f"{PLAIN};", "control flag not specified"),
        (f"{PLAIN} maybe;", "control flag not specified"),
        (f'{PLAIN} required user_alice="secret"', "not terminated by semi-colon"),
        (f"{PLAIN} required; {PLAIN} required;", "more than one login module"),
        (f"{PLAIN} required user_alice;", "Value not specified for a key"),
        (f"{PLAIN} required user_alice=;", "Value not specified for a key"),
        (f'{PLAIN} required user_alice "secret";', "Value not specified for a key"),
        (f"{PLAIN} required user_alice=sec%ret;", "unexpected character at position"),
        (f'{PLAIN} required user_alice="secret;', "unexpected character at position"),
    ],
)
def test_jaas_malformed_is_refused_without_the_password(text: str, complaint: str) -> None:
    with pytest.raises(InvalidJaas, match=complaint) as refused:
        parse_jaas(text)
    assert "secret" not in str(refused.value)


def test_jaas_login_module_repr_contains_no_password() -> None:
    assert "secret" not in repr(parse_jaas(f'{PLAIN} required user_alice="secret";'))
