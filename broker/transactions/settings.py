"""The broker settings that the transaction coordinator uses."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..settings.values import BrokerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionSettings:
    """Broker settings under Kafka's names, with `_` for `.`. The defaults are Kafka's."""

    transaction_max_timeout_ms: int = 900_000
    transactional_id_expiration_ms: int = 604_800_000
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = 10_000

    @classmethod
    def of(cls, config: BrokerConfig) -> TransactionSettings:
        """Returns the settings of a broker."""
        return cls(**{field.name: config.integers[field.name.replace("_", ".")] for field in fields(cls)})
