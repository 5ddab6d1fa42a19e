"""Makes the acts of a fault from its options.

The acts are nested in the order of `_MAKERS`, the first one outermost: a request is held before it is served, a throttle time is set in the
response that the error act returns, and a response is delayed before it is cut or trickles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...protocol.errors import ErrorCode
from ...protocol.messages.fetch import FETCH
from ...protocol.schema import Api
from ..control_errors import InvalidControl, unknown
from .acts import Act
from .corrupt import BATCH_KINDS, FRAME_KINDS, CorruptBatch, CorruptFrame
from .delivery import Cut, Delay, Drop, Throttle, Trickle
from .errors import Error
from .hang import Hang
from .respond import Respond, checked
from .table import Faults

Options = Mapping[str, Any]

STAGES = ("before", "after")
CLOSES = ("fin", "rst")
CHUNK_BYTES = 1024
"""The size of the chunks of a response whose rate is limited."""

_LEAST = {"delay_ms": 0, "jitter_ms": 0, "throttle_ms": 0, "cut_at_bytes": 0, "bytes_per_s": 1, "chunk_bytes": 1, "hang_ms": 0}
_CHOICES = {"stage": STAGES, "close": CLOSES, "corrupt": (*BATCH_KINDS, *FRAME_KINDS)}
_NEEDS = {"stage": ("error", "drop"), "close": ("drop",), "cut_at_bytes": ("drop",), "hang_ms": ("hang",)}
"""Options that only change other acts, of which one is needed."""
_NO_RESPONSE = ("error", "respond", "throttle_ms", "corrupt", "bytes_per_s", "chunk_bytes")
"""The acts that exclude `drop`. A response that is cut may trickle."""
_ACTS = ("hang", "delay_ms", "jitter_ms", "throttle_ms", "drop", *_NO_RESPONSE)


def acts_of(options: Options, apis: list[Api], faults: Faults) -> list[Act]:
    """Returns the acts of a fault that is for some APIs. Raises InvalidControl."""
    _check(options)
    _check_corrupt(options, apis)
    acts = [act for make in _MAKERS if (act := make(options, apis, faults)) is not None]
    if not acts:
        raise InvalidControl.of_call("error", "a fault needs an act, such as error, respond, delay_ms, drop, hang, corrupt or refuse")
    return acts


def check_least(options: Options, least: Mapping[str, int]) -> None:
    """Raises InvalidControl for an option that is below its least value."""
    for name, value in least.items():
        if options.get(name, value) < value:
            raise InvalidControl(name, f"must be at least {value}, not {options[name]}")


def _check(options: Options) -> None:
    check_least(options, _LEAST)
    for name, choices in _CHOICES.items():
        if name in options and options[name] not in choices:
            raise unknown(name, name, options[name], choices)
    for name, needed in _NEEDS.items():
        if name in options and not any(each in options for each in needed):
            raise InvalidControl(name, f"has no effect without {' or '.join(needed)}")
    if "drop" in options:
        for name in _NO_RESPONSE:
            if name in options and not ("cut_at_bytes" in options and name in ("bytes_per_s", "chunk_bytes")):
                raise InvalidControl(name, "cannot be combined with drop, because there is no response then")
    if "cut_at_bytes" in options and options.get("stage") == "before":
        raise InvalidControl("stage", "a response is cut after the work; leave out stage, or cut_at_bytes")


def _check_corrupt(options: Options, apis: list[Api]) -> None:
    if options.get("corrupt") not in BATCH_KINDS:
        return
    if FETCH not in apis:
        raise InvalidControl("corrupt", f"{options['corrupt']} damages fetched batches, but api is {options['api']}; use Fetch")
    for name in _ACTS:
        if name in options and name != "corrupt":
            raise InvalidControl(name, f"cannot be combined with corrupt={options['corrupt']}; add a second fault")


def _hang(options: Options, apis: list[Api], faults: Faults) -> Act | None:
    return Hang(options.get("hang_ms")) if "hang" in options else None


def _corrupt(options: Options, apis: list[Api], faults: Faults) -> Act | None:
    kind = options.get("corrupt")
    if kind in FRAME_KINDS:
        return CorruptFrame(kind)
    return CorruptBatch(kind, faults.cluster.random, faults.elements) if kind is not None else None


def _respond(options: Options, apis: list[Api], faults: Faults) -> Act | None:
    if "respond" not in options:
        return None
    if "api" not in options or len(apis) != 1:
        raise InvalidControl("respond", "needs one api, because each response has its own fields")
    return Respond(checked(options["respond"], apis[0].response), faults.elements)


def _delay(options: Options, apis: list[Api], faults: Faults) -> Act | None:
    if "delay_ms" in options or "jitter_ms" in options:
        return Delay(options.get("delay_ms", 0), options.get("jitter_ms", 0), faults.cluster.random)
    return None


def _throttle(options: Options, apis: list[Api], faults: Faults) -> Act | None:
    return Throttle(options["throttle_ms"]) if "throttle_ms" in options else None


def _drop(options: Options, apis: list[Api], faults: Faults) -> Act | None:
    if "drop" not in options:
        return None
    if "cut_at_bytes" in options:
        return Cut(options["cut_at_bytes"], options.get("close", "fin"))
    return Drop(options.get("stage", "before"), options.get("close"))


def _trickle(options: Options, apis: list[Api], faults: Faults) -> Act | None:
    if "bytes_per_s" in options or "chunk_bytes" in options:
        return Trickle(options.get("bytes_per_s"), options.get("chunk_bytes", CHUNK_BYTES))
    return None


def _error(options: Options, apis: list[Api], faults: Faults) -> Act | None:
    if "error" not in options:
        return None
    name = options["error"]
    if name not in ErrorCode.__members__ or name == "NONE":
        raise unknown("error", "error code", name, (code for code in ErrorCode.__members__ if code != "NONE"))
    return Error(ErrorCode[name], None, options.get("stage", "before"), faults.elements)


_MAKERS: tuple[Callable[[Options, list[Api], Faults], Act | None], ...] = (
    _hang,
    _delay,
    _throttle,
    _corrupt,
    _drop,
    _trickle,
    _respond,
    _error,
)
