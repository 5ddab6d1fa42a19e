"""The state of the transaction coordinator: transactional ids, and prepared transactions whose markers are missing."""

from __future__ import annotations

from ..transactions.coordinator import Transactions
from ..transactions.transaction import Producer, TopicPartition, Transaction, TransactionState
from .forms import KEYS, MOMENT, PLAIN, Form, Record, coded, keyed, named

_PARTITIONS = Form(lambda partitions: list(map(list, partitions)), lambda plain, _: {TopicPartition(*each): None for each in plain})

TRANSACTION = Record(
    Transaction,
    {
        "transactional_id": PLAIN,
        "state": coded(TransactionState),
        "producer": named(Producer),
        "previous_producer_id": PLAIN,
        "next_producer_id": PLAIN,
        "last_epoch": PLAIN,
        "timeout_ms": PLAIN,
        "start_ms": MOMENT,
        "partitions": _PARTITIONS,
        "client_version": PLAIN,
    },
)


def _find_unfinished(transactions: Transactions) -> None:
    transactions._unfinished = {name: transactions._transactions[name] for name in transactions._unfinished}


TRANSACTIONS = Record(
    Transactions,
    {"_transactions": keyed(TRANSACTION, "transactional_id"), "_unfinished": KEYS},
    apart=("_timers", "_settings", "_cluster", "_former"),
    complete=_find_unfinished,
)
