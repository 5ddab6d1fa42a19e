"""Creates a fault from its options.

Every mistake raises InvalidControl with the name of the option before anything is changed: names that do not exist, numbers out of range,
criteria that no request of the API can meet, and acts that exclude each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, get_type_hints

from ...protocol.errors import ErrorCode
from ...protocol.messages import APIS
from ...protocol.messages.fetch import FETCH
from ...protocol.schema import Api, specs
from ..control_errors import InvalidControl, unknown
from .acts import Act
from .corrupt import BATCH_KINDS, FRAME_KINDS, CorruptFetch, CorruptFrame
from .delivery import Cut, Delay, Drop, Hang, Throttle, Trickle
from .elements import subjects
from .errors import Error
from .fault import ConnectionFault, Criteria, Fault, items_of
from .options import REGISTRY_API, AtLeast, FaultOptions, Needs
from .registry import OPTIONS as REGISTRY_OPTIONS
from .registry import RegistryFault
from .respond import Replacement, Respond, replacement_of
from .table import Faults

CHUNK_BYTES = 1024
"""The size of the chunks of a response whose rate is limited."""
MAX_STATUS = 599

_APIS_BY_NAME = {api.name: api for api in APIS.values()}
_REFUSED = ("refuse", "node", "listener", "after", "until")
_SILENT = (*_REFUSED, "peer", "skip", "every", "times", "probability")
_CLOSED = (*_SILENT, "close")
"""The options of faults of new connections, by mode."""
_SUBJECTS = ("topic", "partitions", "group", "transactional_id")
_ACTS_ON_A_RESPONSE = ("error", "respond", "throttle_ms", "corrupt", "bytes_per_s", "chunk_bytes")
"""The acts that exclude `drop`. A response that is cut may trickle."""
_ACTS = ("hang", "delay_ms", "jitter_ms", "throttle_ms", "drop", *_ACTS_ON_A_RESPONSE)
_MARKS = {name: hint.__metadata__ for name, hint in get_type_hints(FaultOptions, include_extras=True).items()}
_LEAST = {name: mark.value for name, marks in _MARKS.items() for mark in marks if isinstance(mark, AtLeast)}
_NEEDS = {name: mark.acts for name, marks in _MARKS.items() for mark in marks if isinstance(mark, Needs)}


def add_fault(faults: Faults, options: FaultOptions) -> Fault:
    """Adds a fault with these options to a cluster and returns it. Raises InvalidControl."""
    if is_of_registry(options):
        registry_fault = _registry_fault(options, faults)
        faults.add(registry_fault)
        return registry_fault
    apis = _apis(options)
    criteria = _criteria(options, faults)
    _check_subjects(options, apis)
    _check_numbers(options)
    fault = _connection_fault(options, criteria, faults) if options.refuse else _request_fault(options, apis, criteria, faults)
    faults.add(fault)
    return fault


def is_of_registry(options: FaultOptions) -> bool:
    """Returns whether a fault is one of the schema registry. Raises InvalidControl for options of such a fault in another one."""
    if items_of(options.api) == [REGISTRY_API]:
        return True
    for name in ("subject", "path", "status"):
        if name in options.given:
            raise InvalidControl(name, f"is about requests to the schema registry; set api to {REGISTRY_API}")
    return False


def _registry_fault(options: FaultOptions, faults: Faults) -> RegistryFault:
    for name in options.given:
        if name not in REGISTRY_OPTIONS:
            raise InvalidControl(name, f"is not about requests to the schema registry; use some of {', '.join(REGISTRY_OPTIONS)}")
    _check_numbers(options)
    if options.error is not None and not re.fullmatch(r"[45][0-9]{2}(?:[0-9]{2})?", options.error):
        raise InvalidControl("error", f"must be an error code of the schema registry, such as 50003, not {options.error!r}")
    if options.status is not None and (options.error is not None or options.status > MAX_STATUS):
        raise InvalidControl("status", f"must be from 400 to {MAX_STATUS}, and cannot be combined with error, which contains the status")
    if not options.given.keys() & {"status", "error", "delay_ms", "jitter_ms"}:
        raise InvalidControl.of_call("status", "a fault of the schema registry needs an act: status, error, delay_ms or jitter_ms")
    return RegistryFault(faults.next_number(), str(options), _criteria(options, faults), faults.cluster.random)


def _request_fault(options: FaultOptions, apis: list[Api], criteria: Criteria, faults: Faults) -> Fault:
    _check_acts(options, apis)
    acts = list(acts_of(options, apis, faults))
    if not acts:
        raise InvalidControl.of_call("error", "a fault needs an act, such as error, respond, delay_ms, drop, hang, corrupt or refuse")
    return Fault(faults.next_number(), str(options), criteria, acts, faults.cluster.random)


def _connection_fault(options: FaultOptions, criteria: Criteria, faults: Faults) -> Fault:
    mode = "refused" if isinstance(options.refuse, bool | None) else options.refuse
    allowed = {"refused": _REFUSED, "closed": _CLOSED, "silent": _SILENT}[mode]
    for name in options.given:
        if name not in allowed:
            reason = "the client is refused before the cluster sees it" if name in _SILENT else "it is about new connections, not requests"
            raise InvalidControl(name, f"cannot be combined with refuse={mode}, because {reason}")
    number = faults.next_number()
    return ConnectionFault(number, str(options), criteria, faults.cluster.random, mode=mode, reset=options.close == "rst")


def _apis(options: FaultOptions) -> list[Api]:
    """Returns the APIs that the fault is for: those that are named, or all."""
    names = items_of(options.api)
    for name in names:
        if name not in _APIS_BY_NAME:
            raise unknown("api", "API", name, [*_APIS_BY_NAME, REGISTRY_API])
    return [_APIS_BY_NAME[name] for name in names] or list(_APIS_BY_NAME.values())


def _criteria(options: FaultOptions, faults: Faults) -> Criteria:
    brokers = faults.cluster.brokers
    if options.node is not None and options.node not in brokers:
        raise unknown("node", "node", options.node, brokers)
    listeners = dict.fromkeys(name for broker in brokers.values() for name in broker.listeners)
    if options.listener is not None and options.listener not in listeners:
        raise unknown("listener", "listener", options.listener, listeners)
    if (options.min_version or 0) > (inf if options.max_version is None else options.max_version):
        raise InvalidControl("min_version", f"{options.min_version} is above max_version, {options.max_version}")
    criteria = Criteria(options, (FETCH.name,) if options.corrupt in BATCH_KINDS else None)
    if criteria.after_ms is not None and criteria.until_ms is not None and criteria.after_ms >= criteria.until_ms:
        raise InvalidControl("after", "must be before until, because no request is hit otherwise")
    return criteria


def _check_subjects(options: FaultOptions, apis: list[Api]) -> None:
    """Raises InvalidControl for a criterion that requests of none of the APIs can meet."""
    given = options.given
    for name in _SUBJECTS:
        if name in given and not any(name in subjects(api.request) or _lists(api, name) for api in apis):
            raise InvalidControl(name, f"requests of {_names(apis)} name no {name}; leave out {name}, or use another api")
    if "acks" in given and not any(spec.name == "acks" for api in apis for spec in specs(api.request)):
        raise InvalidControl("acks", f"requests of {_names(apis)} have no acks; only those of Produce have")
    if "partitions" in given and "error" in given and not any("partitions" in subjects(api.response) for api in apis):
        raise InvalidControl("partitions", f"responses of {_names(apis)} have no error code per partition")


def _lists(api: Api, name: str) -> bool:
    """Returns whether the responses of an API list partitions that its requests do not name, such as those of Metadata."""
    return name == "partitions" and name in subjects(api.response)


def _names(apis: list[Api]) -> str:
    return ", ".join(api.name for api in apis)


def _check_numbers(options: FaultOptions) -> None:
    given = options.given
    for name, least in _LEAST.items():
        if given.get(name, least) < least:
            raise InvalidControl(name, f"must be at least {least}, not {given[name]}")
    if not 0 < given.get("probability", 1) <= 1:
        raise InvalidControl("probability", f"must be above 0 and at most 1, not {options.probability}")


def _check_acts(options: FaultOptions, apis: list[Api]) -> None:
    """Raises InvalidControl for an option without effect, and for acts that exclude each other."""
    given = options.given
    for name, acts in _NEEDS.items():
        if name in given and not given.keys() & acts:
            raise InvalidControl(name, f"has no effect without {' or '.join(acts)}")
    if options.drop:
        for name in _ACTS_ON_A_RESPONSE:
            if name in given and not ("cut_at_bytes" in given and name in ("bytes_per_s", "chunk_bytes")):
                raise InvalidControl(name, "cannot be combined with drop, because there is no response then")
    if "cut_at_bytes" in given and options.stage == "before":
        raise InvalidControl("stage", "a response is cut after the work; leave out stage, or cut_at_bytes")
    if options.corrupt in BATCH_KINDS:
        if FETCH not in apis:
            raise InvalidControl("corrupt", f"{options.corrupt} damages fetched batches, but api is {options.api}; use Fetch")
        for name in _ACTS:
            if name in given and name != "corrupt":
                raise InvalidControl(name, f"cannot be combined with corrupt={options.corrupt}; add a second fault")


def acts_of(options: FaultOptions, apis: list[Api], faults: Faults) -> Iterator[Act]:
    """Yields the acts of a fault that is for some APIs, the outermost first. Raises InvalidControl.

    A request is held before it is served, a throttle time is set in the response that the error act returns, and a response is delayed
    before it is cut or trickles.
    """
    if options.hang:
        yield Hang(options.hang_ms)
    if options.delay_ms is not None or options.jitter_ms is not None:
        yield Delay(options.delay_ms or 0, options.jitter_ms or 0, faults.cluster.random)
    if options.throttle_ms is not None:
        yield Throttle(options.throttle_ms)
    yield from _delivery_acts(options, faults)
    if options.respond is not None:
        yield Respond(_replacement(options.respond, options, apis), faults.elements)
    if options.error is not None:
        yield Error(_error_code(options.error), None, options.stage or "before", faults.elements)


def _delivery_acts(options: FaultOptions, faults: Faults) -> Iterator[Act]:
    if options.corrupt in FRAME_KINDS:
        yield CorruptFrame(options.corrupt)
    elif options.corrupt is not None:
        yield CorruptFetch(options.corrupt, faults.cluster.random, faults.elements)
    if options.drop and options.cut_at_bytes is not None:
        yield Cut(options.cut_at_bytes, options.close or "fin")
    elif options.drop:
        yield Drop(options.stage or "before", options.close)
    if options.bytes_per_s is not None or options.chunk_bytes is not None:
        yield Trickle(options.bytes_per_s, options.chunk_bytes or CHUNK_BYTES)


def _replacement(respond: Mapping[str, Any], options: FaultOptions, apis: list[Api]) -> Replacement:
    if options.api is None or len(apis) != 1:
        raise InvalidControl("respond", "needs one api, because each response has its own fields")
    return replacement_of(respond, apis[0].response)


def _error_code(name: str) -> ErrorCode:
    if name not in ErrorCode.__members__ or name == "NONE":
        raise unknown("error", "error code", name, (code for code in ErrorCode.__members__ if code != "NONE"))
    return ErrorCode[name]
