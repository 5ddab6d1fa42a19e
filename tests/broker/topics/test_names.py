"""Names of topics."""

from __future__ import annotations

import pytest

from odradek.broker.topics.names import TopicNames, illegal_name
from odradek.protocol.errors import ErrorCode, KafkaError


@pytest.mark.parametrize(
    ("name", "legal"), [("a.b_c-D9", True), ("x" * 249, True), ("x" * 250, False), ("", False), (".", False), ("a b", False)]
)
def test_illegal_name_returns_a_reason(name: str, legal: bool) -> None:
    assert (illegal_name(name) is None) == legal


def test_check_with_metric_name_in_use_is_refused_until_removed() -> None:
    names = TopicNames()
    names.check("a.b")
    names.add("a.b")
    with pytest.raises(KafkaError, match=r"collides with existing topic: a\.b") as refused:
        names.check("a_b")
    assert refused.value.code == ErrorCode.INVALID_TOPIC_EXCEPTION
    names.remove("a.b")
    names.check("a_b")
