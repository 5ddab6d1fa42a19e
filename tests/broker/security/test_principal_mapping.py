"""Rules that map distinguished names to user names; the examples are those of KIP-371."""

from __future__ import annotations

import pytest

from odradek.broker.security.principal_mapping import NoMatchingRule, parse_rules, user_of
from odradek.broker.settings.properties import InvalidConfig

KIP_RULES = (
    "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/, "
    "RULE:^CN=(.*?), *OU=(.*?), *O=(.*?), *L=(.*?), *ST=(.*?), *C=(.*?)$/$1@$2/L, "
    "RULE:^cn=(.*?),ou=(.*?),dc=(.*?),dc=(.*?)$/$1@$2/U, "
    "DEFAULT"
)


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("CN=Duke,OU=ServiceUsers,O=Org,C=US", "Duke"),
        ("CN=Duke, OU=SME, O=mycp, L=Fulton, ST=MD, C=US", "duke@sme"),
        ("cn=duke,ou=sme,dc=mycp,dc=com", "DUKE@SME"),
        ("CN=Someone,O=else", "CN=Someone,O=else"),
    ],
)
def test_rules_of_the_kip_map_names(name: str, user: str) -> None:
    assert user_of(parse_rules(KIP_RULES), name) == user


@pytest.mark.parametrize(
    ("rules", "name", "user"),
    [
        ("", "CN=a", "CN=a"),
        ("DEFAULT", "CN=a", "CN=a"),
        ("RULE:^CN=(.*)$/$1/\nDEFAULT", "CN=a", "a"),
        (r"RULE:^CN=a\/b,(.*)$/x\/$1/", "CN=a/b,O=c", "x/O=c"),
        ("RULE:CN=(.*)/user-$1-$2/U", "CN=a", "USER-A-$2"),
        (r"RULE:CN=(.*)/\$1/", "CN=a", "$1"),
        ("RULE:CN=(a)|CN=b/[$1]/", "CN=b", "[]"),
    ],
)
def test_rules_are_applied_in_order(rules: str, name: str, user: str) -> None:
    assert user_of(parse_rules(rules), name) == user


def test_rules_without_match_raise() -> None:
    with pytest.raises(NoMatchingRule, match=r"no rule of ssl\.principal\.mapping\.rules applies to O=b"):
        user_of(parse_rules("RULE:CN=(.*)/$1/"), "O=b")


@pytest.mark.parametrize("rules", ["RULE:x", "RULE:(/x/", "default", "RULE:a/b/X", "DEFAULT RULE:a/b/", "RULE:a/b/L;"])
def test_rules_invalid_are_refused(rules: str) -> None:
    with pytest.raises(InvalidConfig, match="Invalid"):
        parse_rules(rules)
