"""A few seeds of the scenarios, which `make simulate` runs with thousands."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from random import SystemRandom

import pytest

from odradek.simulation.seeds import run_seed, run_seeds
from tests.campaign.scenario import scenario
from tests.campaign.service import service, service_without_idempotence

pytestmark = pytest.mark.clients

SEED = SystemRandom().randrange(1_000_000)


@pytest.fixture(autouse=True)
def no_log() -> Iterator[None]:
    """Logs nothing, because the entries of aiokafka keep its objects alive by their stack traces."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("number", range(4))
def test_campaign_keeps_all_rules(number: int) -> None:
    outcome = run_seed(scenario, SEED + number)
    assert outcome.error is None, f"make simulate SEED={SEED + number}: {outcome.error!r}"
    assert len(outcome.faults) >= 8


@pytest.mark.parametrize("number", range(4))
def test_service_bills_each_order_under_faults(number: int) -> None:
    outcome = run_seed(service, SEED + number)
    assert outcome.error is None, f"make simulate SCENARIO=service SEED={SEED + number}: {outcome.error!r}"
    assert len(outcome.faults) >= 5


def test_service_without_idempotence_doubles_a_record() -> None:
    summary = run_seeds(service_without_idempotence, 200, None, lambda _: None, processes=2)
    assert summary.failed is not None
    assert "each_once" in summary.failed[1]
