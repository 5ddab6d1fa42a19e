"""Reading the topics of a consumer's subscription."""

from __future__ import annotations

import pytest

from odradek.broker.groups.classic.members import subscribed_topics
from tests.broker.groups.scene import SUBSCRIBED_TO_T


@pytest.mark.parametrize(
    "bad", [b"", b"\x00\x00\x00\x00\x00\x02\x00\x01t", b"\x00\x00\x00\x00\x00\x01\xff\xff", b"\x00\x00\x00\x00\x00\x01\x00\x01\xff"]
)
def test_malformed_subscription_raises_value_error(bad: bytes) -> None:
    with pytest.raises(ValueError, match=r"subscription|decode"):
        subscribed_topics(bad)


def test_topics_of_subscription_are_returned() -> None:
    assert subscribed_topics(SUBSCRIBED_TO_T) == ["t"]
    assert subscribed_topics(b"\x00\x00\x00\x00\x00\x00") == []
