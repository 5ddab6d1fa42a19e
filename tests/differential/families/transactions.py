"""Transactions: every request of producers in every version and state, and the results for readers and administrators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from odradek.protocol.messages.add_offsets_to_txn import ADD_OFFSETS_TO_TXN
from odradek.protocol.messages.end_txn import END_TXN
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.list_transactions import LIST_TRANSACTIONS
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.messages.txn_offset_commit import TXN_OFFSET_COMMIT
from odradek.protocol.messages.write_txn_markers import WRITE_TXN_MARKERS

from ..case import Case, Send, Step, Topic, all_versions, number_of
from ..transaction_requests import SETTLED, UNUSED_PRODUCER_ID, Producer, ends, reading, seen

A, B = number_of("a"), number_of("b")
ONE_FILE = {"segment.ms": str((1 << 63) - 1)}
"""Keeps the log in one segment: markers have the present time and records do not, and a Fetch of Apache Kafka reads only one segment."""


def cases() -> Iterator[Case]:
    for make in (_inits, _first_version, _second_version, _ends, _strangers, _writes, _fenced, _offsets, _markers, _aborted, _listed):
        for name, script in make():
            topic = f"transactions.{name}"
            yield Case(topic, (Topic(topic, ONE_FILE),), tuple(script(Producer(topic))))


Script = tuple[str, Callable[..., Sequence[Step]]]
"""The name of a case, and its steps for a producer of the topic of the same name."""


def _inits() -> Iterator[Script]:
    for version in all_versions(INIT_PRODUCER_ID):
        yield f"init.v{version}.twice", lambda a, v=version: [a.init(v), a.init(v), a.described()]
        yield f"init.v{version}.plain", lambda a, v=version: [_plain(v, 0), _plain(v, -1), _plain(v, 1 << 30), _plain(v, 0, id="")]
        yield (
            f"init.v{version}.time-outs",
            lambda a, v=version: [a.init(v, timeout_ms=ms, binds=False) for ms in (-1, 0, 1, 900_000, 900_001)],
        )
        yield f"init.v{version}.wrong-node", lambda a, v=version: [a.init(v)._replace(node=2, binds={})]
        yield (
            f"init.v{version}.open",
            lambda a, v=version: [a.init(v), a.add(), a.write(), a.init(v, binds=False), SETTLED, a.init(v), *a.seen()],
        )
    for version, expects in product((3, 4, 5), [(A, 0), (A, 1), (A, 2), (A, -1), (-1, 0), (UNUSED_PRODUCER_ID, 1), (B, 1)]):
        name = {A: "a", B: "b", -1: "none"}.get(expects[0], "nobody")
        yield (
            f"init.v{version}.expects.{name}.{expects[1]}",
            lambda a, v=version, e=expects: [
                a.init(v),
                a.init(v),
                a.init(v, expects=e, binds=False),
                a.init(v, expects=e, binds=False),
                a._replace(name="b").init(v, expects=e if e[0] != B else (-1, -1)),
            ],
        )
    yield (
        "init.expects.again",
        lambda a: [a.init(), a.init(expects=(A, 0)), a.init(expects=(A, 0)), a.init(expects=(A, 1)), a.init(), a.init(expects=(A, 2))],
    )


def _plain(version: int, timeout_ms: int, id: str | None = None) -> Send:  # noqa: A002
    return Send(INIT_PRODUCER_ID, version, InitProducerIdRequest(transactional_id=id, transaction_timeout_ms=timeout_ms))


def _first_version() -> Iterator[Script]:
    """Yields transactions of clients that send AddPartitionsToTxn themselves."""
    for version, commit in product(range(END_TXN.versions.first, 5), (True, False)):
        yield (
            f"v1.end.v{version}.{'commit' if commit else 'abort'}",
            lambda a, v=version, c=commit: [
                a.init(),
                a.add(min(v, 3), (0, 1)),
                a.write(),
                *a.seen(),
                a.end(v, commit=c),
                SETTLED,
                a.end(v, commit=c),
                a.end(v, commit=not c),
                a.write(11, 1),
                a.add(min(v, 3)),
                a.add(min(v, 3)),
                a.write(11, 1, b"x", b"y"),
                a.end(v, commit=not c),
                *a.seen(),
            ],
        )
    for version in range(4):
        yield (
            f"v1.add.v{version}",
            lambda a, v=version: [a.init(), a.add(v, (0, 7)), a.add(v, (), topics=["transactions.none"]), a.add(v, (0,), node=2), a.add(v)],
        )
    for version in (4, 5):
        yield (
            f"v1.verify.v{version}",
            lambda a, v=version: [
                a.init(),
                a.verify(v),
                a.verify(v, only=False),
                a.verify(v, (0, 1)),
                a.verify(v, (0, 7)),
                a._replace(epoch=1).verify(v),
                a._replace(claims=UNUSED_PRODUCER_ID).verify(v),
                a._replace(name="b").verify(v),
                a.described(),
            ],
        )


def _second_version() -> Iterator[Script]:
    """Yields transactions whose partitions are added by the brokers (KIP-890)."""
    for version, commit in product((12, 13), (True, False)):
        yield (
            f"v2.produce.v{version}.{'commit' if commit else 'abort'}",
            lambda a, v=version, c=commit: [
                a.init(5),
                a.write(v, 0),
                a.write(v, 1),
                a.write(v, 0, partition=1),
                *a.seen(),
                a.end(5, commit=c),
                SETTLED,
                a.write(v, 2),
                a._replace(epoch=1).write(v, 1),
                a._replace(epoch=1).write(v, 0),
                a._replace(epoch=1).end(5, commit=not c),
                *a.seen(),
            ],
        )
    yield (
        "v2.without-markers",
        lambda a: [a.init(5), *(step for n in range(4) for step in (a._replace(epoch=n).end(5, commit=False), SETTLED)), *a.seen()],
    )


def _ends() -> Iterator[Script]:
    """Yields EndTxn in every state, with each epoch, outcome and kind of client."""
    states: dict[str, Callable[[Producer], list[Step]]] = {
        "empty": lambda a: [a.init()],
        "open": lambda a: [a.init(), a.add(), a.write()],
        "committed": lambda a: [a.init(5), a.write(12), a.end(5), SETTLED],
        "aborted": lambda a: [a.init(5), a.write(12), a.end(5, commit=False), SETTLED],
        "committed-v1": lambda a: [a.init(), a.add(), a.write(), a.end(4), SETTLED],
        "aborted-v1": lambda a: [a.init(), a.add(), a.write(), a.end(4, commit=False), SETTLED],
    }
    for (state, before), version, epoch, commit in product(states.items(), (1, 4, 5), (-1, 0, 1, 2), (True, False)):
        yield (
            f"end.{state}.v{version}.{epoch}.{'commit' if commit else 'abort'}",
            lambda a, b=before, v=version, e=epoch, c=commit: [*b(a), a._replace(epoch=e).end(v, commit=c), SETTLED, a.described()],
        )


def _strangers() -> Iterator[Script]:
    """Yields requests with a wrong producer id or epoch, without a transaction, or to the wrong node."""
    requests: dict[str, Callable[..., Send]] = {f"add.v{version}": lambda a, node, v=version: a.add(v, node=node) for version in range(4)}
    requests |= {f"add-offsets.v{v}": lambda a, node, v=v: a.add_offsets(v, node=node) for v in all_versions(ADD_OFFSETS_TO_TXN)}
    requests |= {f"commit-offsets.v{v}": lambda a, node, v=v: a.commit_offsets(v, node=node) for v in all_versions(TXN_OFFSET_COMMIT)}
    requests |= {f"end.v{v}": lambda a, node, v=v: a.end(v, node=node) for v in all_versions(END_TXN)}
    requests |= {f"produce.v{v}": lambda a, node, v=v: a.write(v)._replace(node=node) for v in all_versions(PRODUCE)}
    for name, send in requests.items():
        yield (
            f"strangers.{name}",
            lambda a, send=send: [
                send(a._replace(claims=UNUSED_PRODUCER_ID), 1),
                a.init(),
                send(a._replace(claims=UNUSED_PRODUCER_ID), 1),
                send(a._replace(epoch=1), 1),
                send(a._replace(epoch=-1), 1),
                send(a._replace(name="b", claims=A), 1),
                send(a, 2),
                a.described(2),
                a.described(),
            ],
        )


def _writes() -> Iterator[Script]:
    for version in all_versions(PRODUCE):
        yield (
            f"write.v{version}.without-adding",
            lambda a, v=version: [a.init(), a.write(v), a.add(), a.write(v), a.write(v), a.write(v, 1), *a.seen()],
        )
        yield (
            f"write.v{version}.unnamed",
            lambda a, v=version: [a.init(), a.add(), a.write(v, named=False), a.write(v, transactional=False), *a.seen()],
        )
        yield (
            f"write.v{version}.mixed",
            lambda a, v=version: [
                a.init(),
                a.add(),
                a.write(v),
                a.write(v, 1, transactional=False),
                a.write(v, 1, transactional=False, named=False),
                a.write(v, 3),
                a.write(v, 1),
                *a.seen(),
            ],
        )
        yield (
            f"write.v{version}.first-sequence",
            lambda a, v=version: [a.init(), a.add(), a.write(v, 5), a.write(v, 6), a.write(v, 0), a.write(v, 3), *a.seen()],
        )
        yield (
            f"write.v{version}.refused-first",
            lambda a, v=version: [a.init(), a.write(v, 3), a.add(), a.write(v, 4), a.write(v, 3), *a.seen()],
        )


def _fenced() -> Iterator[Script]:
    for version in (3, 9, 11, 12, 13):
        yield (
            f"fenced.produce.v{version}",
            lambda a, v=version: [
                a.init(),
                a.add(),
                a.write(v),
                a.init(binds=False),
                SETTLED,
                a.write(v, 1),
                a.add(),
                a.end(4),
                a.commit_offsets(3),
                a.init(),
                a.write(v, 1),
                a._replace(epoch=2).add(),
                a._replace(epoch=2).write(v, 0),
                *a.seen(),
            ],
        )


def _offsets() -> Iterator[Script]:
    for version, commit in product(all_versions(TXN_OFFSET_COMMIT), (True, False)):
        yield (
            f"offsets.v{version}.{'commit' if commit else 'abort'}",
            lambda a, v=version, c=commit: [
                a.init(),
                a.commit_offsets(v),
                a.add_offsets(),
                a.commit_offsets(v, [(a.topic, 0, 5, "m"), (a.topic, 1, 6, None)]),
                a.commit_offsets(v, [(a.topic, 0, 7, "x" * 4097), (a.topic, 9, 1, ""), ("transactions.none", 0, 1, "")]),
                *seen(a.topic),
                a.end(4, commit=c),
                *a.seen(),
            ],
        )
    for version in (3, 4, 5):
        yield (
            f"offsets.v{version}.members",
            lambda a, v=version: [
                a.init(),
                a.add_offsets(),
                *(
                    a.commit_offsets(v, member=member)
                    for member in [(0, "", None), (-1, "m", None), (-1, "", "i"), (3, "m", None), (-2, "", None)]
                ),
                a.commit_offsets(v, group=""),
                a.end(4),
                *a.seen(),
            ],
        )


def _markers() -> Iterator[Script]:
    for version, commit in product(all_versions(WRITE_TXN_MARKERS), (True, False)):
        yield (
            f"markers.v{version}.{'commit' if commit else 'abort'}",
            lambda a, v=version, c=commit: [
                a.init(),
                a.add(),
                a.write(),
                a.mark(v, commit=c, node=2),
                a._replace(epoch=-1).mark(v, commit=c),
                a.mark(v, commit=c, coordinator_epoch=7),
                *a.seen(),
                a.mark(v, commit=c, coordinator_epoch=6),
                a.mark(v, commit=c, coordinator_epoch=7),
                a._replace(epoch=3).mark(v, commit=c, coordinator_epoch=8),
                a._replace(claims=UNUSED_PRODUCER_ID).mark(v, commit=c),
                a._replace(topic="transactions.none").mark(v, commit=c),
                a.write(11, 1),
                *a.seen(),
            ],
        )
    yield (
        "markers.level-2",
        lambda a: [
            a.init(),
            a.add(),
            a.write(),
            a.mark(2, level=2),
            a._replace(epoch=1).mark(2, level=2),
            a._replace(epoch=1).mark(2, level=2),
            *a.seen(),
        ],
    )


def _aborted() -> Iterator[Script]:
    """Yields overlapping transactions of two producers, and the aborted transactions in Fetch answers from each offset."""
    for kinds in product((True, False), repeat=2):
        name = ".".join("commit" if commit else "abort" for commit in kinds)
        yield f"aborted.{name}", lambda a, kinds=kinds: _crossed(a, a._replace(name="b"), *kinds)


def _crossed(a: Producer, b: Producer, first: bool, second: bool) -> list[Step]:
    steps: list[Step] = [a.init(), b.init(), a.add(), b.add()]
    steps += [a.write(), b.write(), a.write(11, 1, b"x", b"y"), *seen(a.topic), a.end(4, commit=first), SETTLED, *seen(a.topic)]
    steps += [b.write(11, 1), b.end(4, commit=second), SETTLED, *seen(a.topic)]
    steps += [a.add(), a.write(11, 3), a.end(4, commit=not first), SETTLED]
    steps += [reading(a.topic, offset, 1, most) for offset, most in product(range(10), (1, 150, 1 << 20))]
    return steps + [ends(a.topic, isolation, time) for isolation, time in product((0, 1), (-1, -2, -3, 0, 1000, 1001, 1 << 40))]


def _listed() -> Iterator[Script]:
    for version in all_versions(LIST_TRANSACTIONS):
        filters: list[tuple[tuple[str, ...], int, str | None]] = [((), -1, None)]
        filters += [(("Ongoing",), -1, None), (("Empty", "Nonsense"), -1, None), ((), 1 << 40, None), ((), 0, None)]
        patterns = ["", ".*", "transactions", "transactions.*", "(", "[a-z.0-9-]+", "transactions\\.listed\\..*"]
        filters += [((), -1, pattern) for pattern in patterns]
        yield (
            f"listed.v{version}",
            lambda a, v=version, filters=filters: [
                a.init(),
                *(a.listed(v, *each) for each in filters),
                a.add(),
                SETTLED,
                *(a.listed(v, *each) for each in filters),
            ],
        )
