"""Runs transcripts: lines with commands, `----`, and the expected responses, markers and states of transactional ids.

    init NAME [id=I] [timeout=MS] [as=PID.EPOCH]      add | verify NAME PARTITION... [as=PID.EPOCH]
    commit | abort NAME [v2] [as=PID.EPOCH]      advance MS      # comment
    leaderless | led PARTITION      coordinator gone|N      version N      epoch ID N

A NAME is a client with a transactional id (default x) and the producer id and epoch of its last response, which `as` overrides.
A response is shown as the error, or as the producer. A line `t-0 commit 1.0 by 3` is a marker with producer id 1, epoch 0 and coordinator
epoch 3; a `^` at its end means that the marker raised the epoch. `epoch` sets the epoch of the id's producer.
"""

from __future__ import annotations

from collections.abc import Callable

from odradek.broker.scheduling.timers import Timers
from odradek.broker.transactions.coordinator import ProducerResult, Transactions, TransactionSettings
from odradek.broker.transactions.transaction import Marker, Producer, TopicPartition
from odradek.protocol.errors import ErrorCode
from odradek.protocol.stored.coordinator_records import CoordinatorRecord

START_MS = 1_000_000


def text(producer: Producer) -> str:
    return f"{producer.id}.{producer.epoch}"


class FakeCluster:
    """A cluster view in which `leaderless` partitions have no leader. Markers in all others are recorded in `written`."""

    def __init__(self) -> None:
        self.transaction_version = 2
        self.epoch: int | None = 0
        self.leaderless: set[TopicPartition] = set()
        self.written: list[str] = []
        self.producer_ids = 0
        self.records: list[CoordinatorRecord] = []

    def next_producer_id(self) -> int:
        self.producer_ids += 1
        return self.producer_ids

    def coordinator_epoch(self, transactional_id: str) -> int | None:
        return self.epoch

    def write_transaction(self, transactional_id: str, record: CoordinatorRecord) -> None:
        self.records.append(record)

    def write_marker(self, partition: TopicPartition, marker: Marker) -> bool:
        if partition in self.leaderless:
            return False
        kind, raised = "commit" if marker.committed else "abort", "^" * marker.raises_epoch
        name = f"{partition.topic}-{partition.partition}"
        self.written.append(f"{name} {kind} {text(marker.producer)} by {marker.coordinator_epoch}{raised}")
        return True


class Player:
    def __init__(self) -> None:
        self.timers = Timers(START_MS)
        self.cluster = FakeCluster()
        self.transactions = Transactions(self.timers, TransactionSettings(), self.cluster)
        self.ids: dict[str, str] = {}
        self.producers: dict[str, Producer] = {}
        self.shown: list[str] = []

    def play(self, commands: list[str]) -> str:
        self.shown = self.cluster.written = []
        for command in commands:
            verb, *words = command.split()
            options = dict(word.split("=", 1) for word in words if "=" in word)
            action: Callable[[list[str], dict[str, str]], None] = getattr(self, f"do_{verb}")
            action([word for word in words if "=" not in word], options)
        return "\n".join([*self.shown, *self.state()])

    def state(self) -> list[str]:
        return [
            f"= {each.transactional_id} {each.state.value} {text(each.producer)} last {each.last_epoch}"
            f" [{' '.join(f'{part.topic}-{part.partition}' for part in each.partitions)}]"
            for each in self.transactions
        ] or ["= nothing"]

    def who(self, name: str, options: dict[str, str]) -> tuple[str, Producer]:
        producer = self.producers.get(name, Producer(-1, -1))
        if "as" in options:
            producer = Producer(*map(int, options["as"].split(".")))
        return self.ids[name], producer

    def show(self, name: str, verb: str, result: ProducerResult) -> None:
        self.shown.append(f"{name} {verb} {result.error.name if result.error else text(result.producer)}")

    def do_init(self, words: list[str], options: dict[str, str]) -> None:
        (name,) = words
        self.ids[name] = options.get("id", self.ids.get(name, "x"))
        expected = self.who(name, options)[1] if "as" in options else None
        answer = self.transactions.init_producer_id(self.ids[name], int(options.get("timeout", 60_000)), expected)
        if not answer.error:
            self.producers[name] = answer.producer
        self.show(name, "init", answer)

    def parts(self, words: list[str]) -> list[TopicPartition]:
        return [TopicPartition(topic, int(index)) for topic, _, index in (word.rpartition("-") for word in words)]

    def do_add(self, words: list[str], options: dict[str, str]) -> None:
        error = self.transactions.add_partitions(*self.who(words[0], options), self.parts(words[1:]))
        self.shown.append(f"{words[0]} add {error.name}")

    def do_verify(self, words: list[str], options: dict[str, str]) -> None:
        errors = self.transactions.verify(*self.who(words[0], options), self.parts(words[1:]))
        self.shown.append(f"{words[0]} verify {' '.join(error.name for error in errors.values())}")

    def end(self, words: list[str], options: dict[str, str], commit: bool) -> None:
        name, v2 = words[0], "v2" in words
        transactional_id, producer = self.who(name, options)
        answer = self.transactions.end(transactional_id, producer, commit=commit, raise_epoch=v2)
        if answer.error is ErrorCode.NONE and v2:
            self.producers[name] = answer.producer
        self.show(name, "commit" if commit else "abort", answer)

    def do_commit(self, words: list[str], options: dict[str, str]) -> None:
        self.end(words, options, commit=True)

    def do_abort(self, words: list[str], options: dict[str, str]) -> None:
        self.end(words, options, commit=False)

    def do_advance(self, words: list[str], options: dict[str, str]) -> None:
        self.timers.advance(self.timers.now_ms + int(words[0]))

    def do_leaderless(self, words: list[str], options: dict[str, str]) -> None:
        self.cluster.leaderless.update(self.parts(words))

    def do_led(self, words: list[str], options: dict[str, str]) -> None:
        self.cluster.leaderless.difference_update(self.parts(words))
        self.transactions.write_missing_markers()

    def do_coordinator(self, words: list[str], options: dict[str, str]) -> None:
        self.cluster.epoch = None if words == ["gone"] else int(words[0])

    def do_version(self, words: list[str], options: dict[str, str]) -> None:
        self.cluster.transaction_version = int(words[0])

    def do_epoch(self, words: list[str], options: dict[str, str]) -> None:
        transaction = self.transactions.get(words[0])
        assert transaction is not None
        transaction.producer = transaction.producer._replace(epoch=int(words[1]))
