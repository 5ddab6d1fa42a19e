"""The ids that a broker chooses: those in a captured session, and those that stand for them when it is played again.

They are learnt from pairs of responses, and replaced in the requests that follow, including the headers of record batches.
"""

from __future__ import annotations

from typing import Any

from ....protocol.batches.records import MAGIC_POSITION, first_batch_size, write_crc
from ....protocol.schema import ZERO_UUID, ProtocolError, Spec, specs
from .pairs import kind_of, paired

_NONE: dict[str, Any] = {"client instance": ZERO_UUID, "member": "", "producer": -1, "session": 0, "topic": ZERO_UUID}
"""The values that stand for no id, by kind."""
PRODUCER_ID = slice(43, 51)
"""The place of the producer id in a record batch."""


class Ids:
    """The ids of a replay, by kind and by the id in the capture."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Any], Any] = {}

    def learn(self, recorded: Any, live: Any) -> None:
        """Learns from a response of the capture and the one that the broker has given now."""
        for spec in specs(type(recorded)):
            before, now = getattr(recorded, spec.name), getattr(live, spec.name)
            if (kind := kind_of(spec)) is not None:
                if before not in (None, _NONE[kind]) and now not in (None, _NONE[kind]):
                    self._known[kind, before] = now
            elif isinstance(spec.kind, type) and before is not None and now is not None:
                pairs = paired(spec, before, now, self.live) if spec.array else [(0, before, now)]
                for _, one, other in pairs:
                    self.learn(one, other)

    def live(self, kind: str, recorded: Any) -> Any:
        """Returns the id that stands for one of the capture; the same if it is not known, because the client has chosen it."""
        return self._known.get((kind, recorded), recorded)

    def replaced(self, message: Any) -> Any:
        """Returns a request with the ids of now."""
        return type(message)(**{spec.name: self._replaced(spec, getattr(message, spec.name)) for spec in specs(type(message))})

    def _replaced(self, spec: Spec, value: Any) -> Any:
        if value is None:
            return None
        if (kind := kind_of(spec)) is not None:
            return self.live(kind, value)
        if spec.kind == "records":
            return self._with_producer(bytearray(value))
        if not isinstance(spec.kind, type):
            return value
        return [self.replaced(item) for item in value] if spec.array else self.replaced(value)

    def _with_producer(self, records: bytearray) -> bytearray:
        """Returns record batches with the producer ids of now. Other bytes than batches of format 2 stay as they are."""
        rest = memoryview(records)
        try:
            while size := first_batch_size(rest):
                batch, rest = rest[:size], rest[size:]
                recorded = int.from_bytes(batch[PRODUCER_ID], "big", signed=True)
                if batch[MAGIC_POSITION] == 2 and (live := self.live("producer", recorded)) != recorded:
                    batch[PRODUCER_ID] = live.to_bytes(8, "big", signed=True)
                    write_crc(batch)
        except ProtocolError:
            pass
        return records
