"""A short run of `make fuzz` in process, and tests of the checks of the fuzzer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

import pytest

from odradek.broker.connections.connection import Connection
from odradek.broker.handlers import HANDLERS
from odradek.protocol.frame import encode_request, encode_response
from odradek.protocol.messages import APIS
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest, ApiVersionsResponse
from odradek.protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from odradek.protocol.schema import Api
from tests.fuzz.answers import Ledger, WrongAnswer
from tests.fuzz.batches import Batches
from tests.fuzz.facts import Facts
from tests.fuzz.frames import WEIGHTS
from tests.fuzz.grammar import write_request
from tests.fuzz.player import MAX_CPU_MS, Advance, Feed, Setting, Step
from tests.fuzz.rounds import QUICK, Found, Round, minimized, signature_of, text_of, warm_up
from tests.fuzz.vocabulary import Draw

SEED = SystemRandom().getrandbits(32)
ROUNDS, FRAMES = 6, 500
ROOT = Path(__file__).parents[2]
SETTING = Setting(1, 2, QUICK)


@pytest.fixture(scope="module")
def batches() -> Batches:
    return warm_up(SEED)


@pytest.mark.parametrize("number", range(ROUNDS))
def test_rounds_have_no_violation(batches: Batches, number: int) -> None:
    """Memory is measured in round 1, and round 2 logs at level INFO."""
    found = Round(SEED, number, batches, FRAMES).run().found
    assert found is None, f"make fuzz SEED={SEED} ROUND={number} FRAMES={FRAMES}\n{found.details}\n{text_of(found.steps[-3:])}"


ANOTHER_ROUND = """
from tests.fuzz.rounds import Batches, Round, text_of
played = Round(7, 3, Batches(7), 300)
played.run()
print(text_of(played.steps))
"""


def test_round_depends_only_on_seed_and_number() -> None:
    """Steps depend on all earlier answers, so equal steps in two processes show that the answers are equal as well."""
    environ = os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": f"{ROOT / '.dev'}:{ROOT}"}
    first, second = (
        subprocess.run([sys.executable, "-c", ANOTHER_ROUND], env=environ, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert first.count("Feed") > 200
    assert first == second


def test_rounds_receive_answers_of_every_api(batches: Batches) -> None:
    """Guarantees that APIs added later are fuzzed as well. APIs with the weight 1 are exempt, because they are rarely used."""
    answered = set().union(*(Round(SEED, number, batches, FRAMES).run().answered for number in range(ROUNDS)))
    assert {api.name for api in APIS.values()} - answered <= {name for name, weight in WEIGHTS.items() if weight == 1}


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
def test_grammar_writes_tame_requests_that_decode(api: Api, batches: Batches) -> None:
    draw = Draw(Random(SEED), Facts(), batches)
    for version in range(api.versions.first, api.versions.last + 1):
        for _ in range(5):
            out = bytearray()
            write_request(out, draw, api, version)
            assert api.request.decoders[version](memoryview(out), 0)[1] == len(out)


# Tests of the checks


def list_groups() -> Feed:
    return Feed(0, b"".join(encode_request(LIST_GROUPS, 4, 1, "test", ListGroupsRequest())))


def violation(*steps: Step, memory: bool = False) -> str | None:
    return signature_of(SETTING, list(steps), memory=memory)


@pytest.fixture
def answer_groups(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., Any]], None]:
    """Replaces the rule that answers ListGroups."""
    handler = HANDLERS[LIST_GROUPS.key]
    return lambda rule: monkeypatch.setitem(HANDLERS, LIST_GROUPS.key, handler._replace(rule=rule(handler.rule)))


def test_signature_of_valid_request_is_none() -> None:
    assert violation(list_groups(), memory=True) is None


def test_exception_in_a_handler_is_a_violation(answer_groups: Callable[[Callable[..., Any]], None]) -> None:
    answer_groups(lambda rule: lambda request, context: request.nothing)
    assert (violation(list_groups()) or "").startswith("logged ListGroups: AttributeError")


def test_exception_outside_handlers_is_a_violation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Connection, "received", lambda self, n: n // 0)
    assert (violation(list_groups()) or "").startswith("escaped: ZeroDivisionError")


def test_missing_answer_is_a_violation(answer_groups: Callable[[Callable[..., Any]], None]) -> None:
    answer_groups(lambda rule: lambda request, context: None)
    assert violation(list_groups()) == "no answer"


def test_slow_frame_is_a_violation(answer_groups: Callable[[Callable[..., Any]], None]) -> None:
    def slow(rule: Callable[..., Any]) -> Callable[..., Any]:
        def answer(request: Any, context: Any) -> Any:
            until = time.thread_time() + 2 * MAX_CPU_MS / 1000
            while time.thread_time() < until:
                pass
            return rule(request, context)

        return answer

    answer_groups(slow)
    assert violation(list_groups()) == "slow"


def test_memory_beyond_the_frame_is_a_violation(answer_groups: Callable[[Callable[..., Any]], None]) -> None:
    answer_groups(lambda rule: lambda request, context: bytearray(200_000) and rule(request, context))
    assert violation(list_groups(), memory=True) == "memory"


def test_minimized_keeps_only_the_relevant_steps(answer_groups: Callable[[Callable[..., Any]], None]) -> None:
    answer_groups(lambda rule: lambda request, context: request.nothing)
    steps: list[Step] = [*[Advance(n) for n in range(20)], list_groups(), *[Advance(n) for n in range(20)]]
    signature = violation(*steps)
    assert signature is not None
    assert minimized(SETTING, Found(0, signature, "", steps)) == [list_groups()]


# Tests of the ledger


def ledger_of(*correlation_ids: int) -> Ledger:
    ledger = Ledger()
    for correlation_id in correlation_ids:
        ledger.sent(b"".join(encode_request(API_VERSIONS, 2, correlation_id, "test", ApiVersionsRequest())))
    return ledger


def answered(correlation_id: int, version: int = 2, more: bytes = b"") -> bytearray:
    frame = bytearray(
        b"".join(encode_response(API_VERSIONS, version, correlation_id, ApiVersionsResponse(error_code=0, api_keys=[]))) + more
    )
    frame[:4] = (len(frame) - 4).to_bytes(4, "big")
    return frame


def test_ledger_accepts_answers_in_order() -> None:
    ledger = ledger_of(1, 2)
    assert [each.correlation_id for each in ledger.received(answered(1) + answered(2))] == [1, 2]
    assert not ledger.unanswered


def test_ledger_accepts_an_answer_in_pieces() -> None:
    ledger, received = ledger_of(1), bytearray()
    for byte in answered(1)[:-1]:
        received.append(byte)
        assert ledger.received(received) == []
    assert len(ledger.received(received + answered(1)[-1:])) == 1


@pytest.mark.parametrize("answer", [answered(2), answered(1) + answered(1), answered(1, more=b"x"), answered(1)[:4] + answered(1)[4:9]])
def test_ledger_refuses_wrong_answers(answer: bytearray) -> None:
    answer[:4] = (len(answer) - 4).to_bytes(4, "big") if len(answer) < 12 else answer[:4]
    with pytest.raises(WrongAnswer):
        ledger_of(1, 2).received(answer)


def test_ledger_expects_no_answer_to_a_truncated_frame() -> None:
    ledger = Ledger()
    ledger.sent(b"".join(encode_request(API_VERSIONS, 2, 1, "test", ApiVersionsRequest()))[:-1])
    assert not ledger.unanswered


def test_facts_learn_topics_except_the_excluded_one() -> None:
    facts = Facts(excluded="secret")
    facts.learn_topic("secret", bytes(16))
    facts.learn_topic("known", b"x" * 16)
    assert [fact.name for fact in facts.topics if fact.id != bytes(16)] == ["known"]
    assert "secret" not in {fact.name for fact in facts.topics}
