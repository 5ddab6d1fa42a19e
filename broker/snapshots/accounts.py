"""The state of the accounts of a cluster: digests of passwords, SCRAM credentials and delegation tokens."""

from __future__ import annotations

from collections.abc import Mapping

from ..security.delegation_tokens import DelegationToken, DelegationTokens
from ..security.sasl_listener import Accounts
from ..security.scram_credentials import ScramCredential, ScramCredentials, UnknownUsers
from .forms import MOMENT, PLAIN, Plain, Record, Within, keyed, listed, mapped, named

_CREDENTIALS = mapped(PLAIN, named(ScramCredential))

DELEGATION_TOKEN = Record(
    DelegationToken,
    {
        "token_id": PLAIN,
        "owner": PLAIN,
        "requester": PLAIN,
        "renewers": listed(kind=tuple),
        "issue_ms": MOMENT,
        "max_ms": MOMENT,
        "expiry_ms": MOMENT,
        "hmac": PLAIN,
        "credentials": _CREDENTIALS,
    },
)


def _index_tokens(tokens: DelegationTokens) -> None:
    tokens._by_hmac = {token.hmac: token for token in tokens._tokens.values()}


DELEGATION_TOKENS = Record(
    DelegationTokens,
    {"_tokens": keyed(DELEGATION_TOKEN, "token_id")},
    apart=("_secret", "_max_lifetime_ms", "_renew_ms", "check", "_timers", "_random", "_on_change", "_by_hmac"),
    complete=_index_tokens,
)

SCRAM_CREDENTIALS = Record(ScramCredentials, {"_by_user": mapped(PLAIN, _CREDENTIALS)}, apart=("_random", "unknown"))

ACCOUNTS = Record(
    Accounts,
    {"_plain_digests": mapped(PLAIN, PLAIN), "scram_credentials": Within(SCRAM_CREDENTIALS), "tokens": Within(DELEGATION_TOKENS)},
    apart=("timers", "random", "key_sets"),
)


def write_accounts(accounts: Accounts) -> Plain:
    """Returns the state of the accounts. The secret for unknown users is None until it is needed."""
    unknown = vars(accounts.scram_credentials).get("unknown")
    return {"accounts": ACCOUNTS.write(accounts), "secret": unknown and unknown.secret}


def fill_accounts(accounts: Accounts, plain: Mapping[str, Plain], shift_ms: int) -> None:
    """Replaces the state of the accounts of a new cluster."""
    ACCOUNTS.fill(accounts, plain["accounts"], shift_ms)
    if plain["secret"] is not None:
        credentials = accounts.scram_credentials
        vars(credentials)["unknown"] = UnknownUsers(plain["secret"], credentials._by_user)
