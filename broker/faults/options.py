"""Checks the options of a fault, such as `topic` and `error`, and makes a fault of them.

Options are a mapping that contains only what the user gave. Every mistake raises InvalidControl with the name of the option before anything
is changed: names that do not exist, numbers out of range, criteria that no request of the API can meet, and acts that exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from math import inf
from typing import Any

from ...protocol.messages import APIS
from ...protocol.messages.fetch import FETCH
from ...protocol.schema import Api, specs
from ..control_errors import InvalidControl, unknown
from .act_options import Options, acts_of, check_least
from .corrupt import BATCH_KINDS
from .elements import subjects
from .fault import Fault, Schedule
from .match import Criteria
from .refusal import MODES, Refusal
from .table import Faults

APIS_BY_NAME = {api.name: api for api in APIS.values()}
_REFUSED = ("refuse", "node", "listener", "after", "until")
_SILENT = (*_REFUSED, "peer", "skip", "every", "times", "probability")
_CLOSED = (*_SILENT, "close")
"""The options of faults of new connections, by mode."""
_SUBJECTS = ("topic", "partitions", "group", "transactional_id")
_LEAST = {"skip": 0, "every": 1, "times": 1, "min_version": 0, "max_version": 0}


def add_fault(faults: Faults, options: Options) -> Fault:
    """Adds a fault with these options to a cluster and returns it. Raises InvalidControl."""
    apis = _apis(options)
    criteria = _criteria(options, faults)
    _check_subjects(options, apis)
    schedule = _schedule(options)
    text = " ".join(f"{name}={_shown(value)}" for name, value in options.items())
    make = _refusal if "refuse" in options else _fault
    fault = make(options, apis, faults, text, criteria, schedule)
    faults.add(fault)
    return fault


def _fault(options: Options, apis: list[Api], faults: Faults, text: str, criteria: Criteria, schedule: Schedule) -> Fault:
    acts = acts_of(options, apis, faults)
    return Fault(faults.next_number(), text, criteria, schedule, acts, faults.cluster.random)


def _refusal(options: Options, apis: list[Api], faults: Faults, text: str, criteria: Criteria, schedule: Schedule) -> Fault:
    mode = "refused" if options["refuse"] is True else options["refuse"]
    if mode not in MODES:
        raise unknown("refuse", "mode", mode, MODES)
    allowed = _REFUSED if mode == "refused" else _CLOSED if mode == "closed" else _SILENT
    for name in options:
        if name not in allowed:
            reason = "the client is refused before the cluster sees it" if name in _SILENT else "it is about new connections, not requests"
            raise InvalidControl(name, f"cannot be combined with refuse={mode}, because {reason}")
    reset = options.get("close") == "rst"
    return Refusal(faults.next_number(), text, criteria, schedule, faults.cluster.random, mode=mode, reset=reset)


def _apis(options: Options) -> list[Api]:
    """Returns the APIs that the fault is for: those that are named, or all."""
    names = _listed(options.get("api"))
    for name in names:
        if name not in APIS_BY_NAME:
            raise unknown("api", "API", name, APIS_BY_NAME)
    return [APIS_BY_NAME[name] for name in names] or list(APIS_BY_NAME.values())


def _criteria(options: Options, faults: Faults) -> Criteria:
    brokers = faults.cluster.brokers
    if "node" in options and options["node"] not in brokers:
        raise unknown("node", "node", options["node"], brokers)
    listeners = dict.fromkeys(name for broker in brokers.values() for name in broker.listeners)
    if "listener" in options and options["listener"] not in listeners:
        raise unknown("listener", "listener", options["listener"], listeners)
    after_ms, until_ms = _moment_ms(options.get("after")), _moment_ms(options.get("until"))
    if options.get("min_version", 0) > options.get("max_version", inf):
        raise InvalidControl("min_version", f"{options['min_version']} is above max_version, {options['max_version']}")
    if after_ms is not None and until_ms is not None and after_ms >= until_ms:
        raise InvalidControl("after", "must be before until, because no request is hit otherwise")
    taken = ("min_version", "max_version", "node", "listener", "client_id", "client_software", "principal", "peer", "connection")
    return Criteria(
        **{name: options[name] for name in (*taken, "topic", "group", "transactional_id", "acks", "when") if name in options},
        apis=tuple(_listed(options["api"])) if "api" in options else (FETCH.name,) if options.get("corrupt") in BATCH_KINDS else None,
        partitions=frozenset(_listed(options["partitions"])) if "partitions" in options else None,
        after_ms=after_ms,
        until_ms=until_ms,
    )


def _check_subjects(options: Options, apis: list[Api]) -> None:
    """Raises InvalidControl for a criterion that requests of none of the APIs can meet."""
    for name in _SUBJECTS:
        if name in options and not any(name in subjects(api.request) | _listed_partitions(api) for api in apis):
            raise InvalidControl(name, f"requests of {_named(apis)} name no {name}; leave out {name}, or use another api")
    if "acks" in options and not any(spec.name == "acks" for api in apis for spec in specs(api.request)):
        raise InvalidControl("acks", f"requests of {_named(apis)} have no acks; only those of Produce have")
    if "partitions" in options and "error" in options and not any("partitions" in subjects(api.response) for api in apis):
        raise InvalidControl("partitions", f"responses of {_named(apis)} have no error code per partition")


def _listed_partitions(api: Api) -> frozenset[str]:
    """Returns "partitions" if the responses of an API list partitions, such as those of Metadata."""
    return subjects(api.response) & {"partitions"}


def _schedule(options: Options) -> Schedule:
    check_least(options, _LEAST)
    if not 0 < options.get("probability", 1) <= 1:
        raise InvalidControl("probability", f"must be above 0 and at most 1, not {options['probability']}")
    return Schedule(**{name: options[name] for name in ("skip", "every", "times", "probability") if name in options})


def _moment_ms(moment: datetime | int | None) -> int | None:
    return round(moment.timestamp() * 1000) if isinstance(moment, datetime) else moment


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]


def _named(apis: list[Api]) -> str:
    return ", ".join(api.name for api in apis)


def _shown(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return str(getattr(value, "__qualname__", value))
