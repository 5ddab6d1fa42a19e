"""The errors of controls (`controls/`). They are answers to the user, so they are not logged as internal errors."""

from __future__ import annotations

from collections.abc import Iterable


class ControlError(Exception):
    """A control could not be carried out."""


class InvalidControl(ControlError, ValueError):
    """A control was called with an argument that it does not accept. `parameter` is its name. The cluster is unchanged."""

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class ControlRefused(ControlError, RuntimeError):
    """The cluster refused a valid request, as it would refuse one of a client. `code` is the name of Kafka's error code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class ControlTimeout(ControlError, TimeoutError):
    """The condition that a control waited for did not become true in time. The message says what was missing."""


MAX_NAME_CHARACTERS = 249
"""Longer names are cut in errors, because comparing them with others takes long. No topic has a longer name."""


def unknown(parameter: str, what: str, name: object, names: Iterable[object]) -> InvalidControl:
    """Returns the error for a name that does not exist, with the nearest of the existing `names` or, if none is near, all of them."""
    from difflib import get_close_matches  # imported on first use, because a start needs no suggestions

    known = [str(each) for each in names]
    if isinstance(name, str):
        name = name[:MAX_NAME_CHARACTERS]
    near = get_close_matches(str(name), known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(known[:20])}" if known else "there is none"
    return InvalidControl(parameter, f"{parameter}: there is no {what} {name!r}; {hint}")


def unknown_keyword(function: str, name: str, names: Iterable[str]) -> str:
    """Returns the text of the error for a keyword that a function does not have, with the nearest one of its keywords."""
    from difflib import get_close_matches

    known = list(names)
    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"it accepts {', '.join(known) or 'no arguments'}"
    return f"{function}() got an unexpected keyword argument {name!r}; {hint}"
