"""A fault of the schema registry: which of its requests it hits, and the answer that they get."""

from __future__ import annotations

from fnmatch import fnmatchcase
from random import Random
from typing import NamedTuple

from .fault import Criteria, Fault, Mismatch
from .options import REGISTRY_API, Exchange, FaultOptions

OPTIONS = ("api", "subject", "path", "skip", "every", "times", "probability", "after", "until", "status", "error", "delay_ms", "jitter_ms")
"""The options of such a fault."""
MESSAGE = "a fault of the cluster gives this answer"


class RegistryCall(NamedTuple):
    """A request to the registry. The subject is empty if the path names none."""

    path: str
    subject: str


class RegistryAnswer(NamedTuple):
    """The effect of a fault on a request: how long it waits, in ms of the cluster's time, and the error code of its answer, if any."""

    delay_ms: int
    error_code: int | None


class RegistryFault(Fault):
    """A fault of the requests to the registry."""

    def __init__(self, number: int, text: str, criteria: Criteria, random: Random) -> None:
        super().__init__(number, text, criteria, (), random)
        self._jitter = random

    def answer(self, call: RegistryCall, now_ms: int) -> RegistryAnswer | None:
        """Counts a request, and returns the effect of the fault on it, None if the fault spares it."""
        options = self.criteria.options
        if (reason := self._mismatch(options, call, now_ms)) is not None:
            self.miss(REGISTRY_API, reason)
            return None
        if self.check_schedule(REGISTRY_API) is not None:
            return None
        self.hit(Exchange(now_ms, -1, -1, "", REGISTRY_API, 0, 0, (call.subject,) if call.subject else ()))
        jitter_ms = self._jitter.randint(0, options.jitter_ms or 0)
        code = int(options.error) if options.error is not None else options.status
        return RegistryAnswer((options.delay_ms or 0) + jitter_ms, code)

    def _mismatch(self, options: FaultOptions, call: RegistryCall, now_ms: int) -> Mismatch | None:
        for name in RegistryCall._fields:
            pattern, value = getattr(options, name), getattr(call, name)
            if pattern is not None and not fnmatchcase(value, pattern):
                return Mismatch(name, (value,))
        return self.criteria.moment_mismatch(now_ms)
