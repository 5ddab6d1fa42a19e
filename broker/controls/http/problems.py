"""Errors of the control listener, as problem details of RFC 9457."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from ...control_errors import ControlError, ControlRefused, ControlTimeout, InvalidControl

PROBLEM_TYPE = "application/problem+json"


class Problem(Exception):
    """A request that is answered with an error. `fields` are members of the problem besides status, title and detail."""

    def __init__(self, status: HTTPStatus, detail: str, headers: Mapping[str, str] | None = None, **fields: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers or {}
        self.fields = fields

    def as_json(self) -> str:
        """Returns the body of the response."""
        problem: dict[str, Any] = {"title": self.status.phrase, "status": self.status.value, "detail": self.detail, **self.fields}
        return json.dumps(problem) + "\n"


def problem_of(error: ControlError) -> Problem:
    """Returns the problem for an error of a control: 400 for an argument, 409 if the cluster refused, 504 after a time-out."""
    if isinstance(error, InvalidControl):
        return Problem(HTTPStatus.BAD_REQUEST, str(error), parameter=error.parameter)
    if isinstance(error, ControlRefused):
        return Problem(HTTPStatus.CONFLICT, str(error), code=error.code)
    status = HTTPStatus.GATEWAY_TIMEOUT if isinstance(error, ControlTimeout) else HTTPStatus.CONFLICT
    return Problem(status, str(error))
