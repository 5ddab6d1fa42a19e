"""The settings of one listener of a broker: `listener.name.<listener>.<setting>` takes precedence over `<setting>`.

This is Kafka's AbstractConfig.valuesWithPrefixOverride. The listener's name is in lower case in the prefix.
"""

from __future__ import annotations

from typing import cast

from .parsing import parse
from .types import Value
from .values import BrokerConfig


class ListenerSettings:
    """Reads the present values of a broker's settings for one of its listeners."""

    def __init__(self, config: BrokerConfig, listener_name: str) -> None:
        self.config = config
        self.listener_name = listener_name
        self._prefix = f"listener.name.{listener_name.lower()}."

    def value(self, name: str) -> Value:
        """Returns the value for the listener or, without one, that of all listeners. Raises InvalidConfig for an invalid value."""
        text = self.override(name)
        return self.config.values[name] if text is None else parse(self.config.rows.broker[name], text)

    def text(self, name: str) -> str:
        """Returns the value of a setting of type string, "" for null."""
        value = self.value(name)
        return "" if value is None else str(value)

    def integer(self, name: str) -> int:
        return cast(int, self.value(name))

    def words(self, name: str) -> tuple[str, ...]:
        """Returns the value of a setting of type list."""
        return tuple(filter(None, cast(tuple[str, ...], self.value(name))))

    def override(self, name: str) -> str | None:
        """Returns the text that is set for this listener only, None if there is none."""
        name = self._prefix + name
        layers = (self.config.own, self.config.cluster_wide, self.config.static)
        return next((layer[name] for layer in layers if name in layer), None)

    def value_of_mechanism(self, mechanism: str, name: str) -> Value:
        """Returns the value for a SASL mechanism of the listener, without one that of the listener. Raises InvalidConfig."""
        text = self.of_mechanism(mechanism, name)
        return self.value(name) if text is None else parse(self.config.rows.broker[name], text)

    def of_mechanism(self, mechanism: str, name: str) -> str | None:
        """Returns the text that is set for a SASL mechanism of this listener, None if there is none."""
        return self.override(f"{mechanism.lower()}.{name}")
