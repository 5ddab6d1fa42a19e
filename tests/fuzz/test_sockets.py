"""The short form of `make fuzz` over sockets, and what its canary complains of."""

from __future__ import annotations

from random import SystemRandom

import pytest

from tests.fuzz.canary import Canary
from tests.fuzz.serving import Served
from tests.fuzz.sockets import over_sockets

pytestmark = pytest.mark.sockets
SEED = SystemRandom().getrandbits(32)
FRAMES, CONNECTIONS = 3000, 20


def test_frames_over_sockets_violate_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    violations = over_sockets(SEED, FRAMES, CONNECTIONS)
    assert violations == 0, f"make fuzz FRAMES=0 SOCKET_FRAMES={FRAMES} CONNECTIONS={CONNECTIONS} SEED={SEED}\n{capsys.readouterr().out}"


def test_a_canary_complains_of_a_record_that_is_gone() -> None:
    with Served({}) as served:
        canary = Canary(served.addresses)
        canary.create_topic()
        canary.sing()
        canary.sing()
        canary.check_all()
        canary.values.insert(0, b"never written")
        with pytest.raises(AssertionError, match=r"not what was written|nothing at offset"):
            canary.check_all()
        canary.close()
        assert served.complaints() == []
        assert served.stop() == 0
