"""A short run of `make fuzz` over sockets, and a test of its canary."""

from __future__ import annotations

from random import SystemRandom

import pytest

from tests.fuzz.broker_process import BrokerProcess
from tests.fuzz.canary import Canary
from tests.fuzz.sockets import over_sockets

pytestmark = pytest.mark.sockets
SEED = SystemRandom().getrandbits(32)
FRAMES, CONNECTIONS = 3000, 20


def test_frames_over_sockets_cause_no_violation(capsys: pytest.CaptureFixture[str]) -> None:
    violations = over_sockets(SEED, FRAMES, CONNECTIONS)
    assert violations == 0, f"make fuzz FRAMES=0 SOCKET_FRAMES={FRAMES} CONNECTIONS={CONNECTIONS} SEED={SEED}\n{capsys.readouterr().out}"


def test_canary_reports_a_missing_record() -> None:
    with BrokerProcess({}) as broker:
        canary = Canary(broker.addresses)
        canary.create_topic()
        canary.check_one_record()
        canary.check_one_record()
        canary.check_all()
        canary.values.insert(0, b"never written")
        with pytest.raises(AssertionError, match=r"differ from the records written|nothing at offset"):
            canary.check_all()
        canary.close()
        assert broker.logged_errors() == []
        assert broker.stop() == 0
