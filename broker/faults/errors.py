"""The act that answers a request, or a part of it, with an error code.

Without a topic, partition, group or transactional id in its criteria, a fault fails the whole request. Otherwise only the elements fail
that the criteria select: the others are served, and the response has all of them in the order of the request. The error entries are those
of real errors, because `failure.py` derives them from the request.

Some requests do not name what the response contains: Metadata asks for all topics by an empty list, and Fetch leaves out the partitions
that its session knows. These APIs change nothing, so the request is served and the entries of the response are replaced.
"""

from __future__ import annotations

from ...protocol.errors import ErrorCode
from ...protocol.messages.describe_log_dirs import DESCRIBE_LOG_DIRS
from ...protocol.messages.describe_topic_partitions import DESCRIBE_TOPIC_PARTITIONS
from ...protocol.messages.fetch import FETCH
from ...protocol.messages.metadata import METADATA
from ...protocol.messages.offset_fetch import OFFSET_FETCH
from ...protocol.schema import Message, Spec, specs
from ..api.failure import IDENTITY, carries_error, failure, is_error_code, with_error
from ..api.gate import Answering, Asked
from ..api.registry import CloseConnection
from .acts import Act, Serve, make_readable
from .elements import Element, Elements, replace_fields
from .fault import Criteria

_ALWAYS_SERVED = (FETCH.key, METADATA.key)
"""The clients need the rest of these responses: the id of the session, and the nodes."""
_MAY_ASK_FOR_ALL = (OFFSET_FETCH.key, DESCRIBE_TOPIC_PARTITIONS.key, DESCRIBE_LOG_DIRS.key)
"""The APIs whose requests need not name what the response contains."""
_OF_THE_RESPONSE = (
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    ErrorCode.REBOOTSTRAP_REQUIRED,
)
"""The errors that Fetch and Metadata return for the whole response. They return all others per partition or topic."""


class Error(Act):
    """Answers with an error code. With the stage "after", the work is done and only the response says that it failed."""

    def __init__(self, code: ErrorCode, message: str | None, stage: str, elements: Elements) -> None:
        self._code = code
        self._message = message
        self._stage = stage
        self._elements = elements

    def serve(self, asked: Asked, request: Message, rest: Serve) -> Answering:
        key, criteria = asked.header.api.key, self.fault.criteria
        if key in _ALWAYS_SERVED or (key in _MAY_ASK_FOR_ALL and criteria.selects_elements):
            response = yield from rest(_at_once(request))
            return None if response is None else self._overlay_response(make_readable(response, asked.header.version), criteria)
        template = failure(asked.header.api, request, self._code, self._message)
        response = yield from self._serve_rest(request, criteria, template, rest)
        if getattr(request, "acks", None) == 0:
            raise CloseConnection(f"Produce with acks=0 failed with {self._code.name}")
        return response

    def _serve_rest(self, request: Message, criteria: Criteria, template: Message, rest: Serve) -> Answering:
        """Serves what does not fail, or everything in the stage "after", and returns its response with the error entries."""
        left = self._elements.select(request, lambda element: not criteria.selects(element)) if criteria.selects_elements else None
        if self._stage == "after":
            response = yield from rest(request)
            if criteria.selects_elements and response is not None:
                response = self._elements.select(response, lambda element: not criteria.selects(element))
        else:
            response = None if left is None else (yield from rest(left))
        if left is None and criteria.options.topic is None and criteria.partitions is None:
            return template
        return _merge(response or _without_code(template), template)

    def _overlay_response(self, response: Message, criteria: Criteria) -> Message:
        if self._code in _OF_THE_RESPONSE:
            return with_error(response, self._code, self._message)
        return self._overlay(response, self._elements.whole(response), criteria)

    def _overlay(self, message: Message, scope: Element, criteria: Criteria) -> Message:
        lists = {
            spec.name: [
                self._overlay_item(item, self._elements.item(item, scope, spec.name), criteria) for item in getattr(message, spec.name)
            ]
            for spec in _error_lists(message)
        }
        return replace_fields(message, lists)

    def _overlay_item(self, item: Message, element: Element, criteria: Criteria) -> Message:
        if criteria.selects(element) and any(map(is_error_code, specs(type(item)))):
            return with_error(item, self._code, self._message)
        return self._overlay(item, element, criteria)


def _at_once(request: Message) -> Message:
    """Returns a Fetch that does not wait for records, because an error is returned at once, and a Metadata that creates no topic."""
    changes = {"max_wait_ms": 0, "allow_auto_topic_creation": False}
    return replace_fields(request, {name: value for name, value in changes.items() if hasattr(request, name)})


def _error_lists(message: Message) -> list[Spec]:
    return [
        spec
        for spec in specs(type(message))
        if spec.array and isinstance(spec.kind, type) and carries_error(spec.kind) and getattr(message, spec.name)
    ]


def _without_code(template: Message) -> Message:
    """Returns a response whose items have failed, but which has not failed as a whole."""
    codes = [spec for spec in specs(type(template)) if is_error_code(spec)]
    return replace_fields(template, dict.fromkeys((spec.name for spec in codes), ErrorCode.NONE)) if _error_lists(template) else template


def _merge(response: Message, template: Message) -> Message:
    """Returns a response with the items of `template` that it lacks, in the order of `template`."""
    lists: dict[str, list[Message]] = {}
    for spec in _error_lists(template):
        served = {_identity(item): item for item in getattr(response, spec.name)}
        lists[spec.name] = [
            _merge(served[identity], item) if (identity := _identity(item)) in served else item for item in getattr(template, spec.name)
        ]
    return replace_fields(response, lists)


def _identity(item: Message) -> tuple[object, ...]:
    """Returns what an item is about. A topic is identified by its name, because a served item may have an id that the request lacks."""
    fields = {spec.name: getattr(item, spec.name) for spec in specs(type(item)) if spec.name in IDENTITY}
    if fields.get("name"):
        fields.pop("topic_id", None)
    return tuple(fields.values())
