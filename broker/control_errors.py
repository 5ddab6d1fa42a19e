"""The errors of controls (`controls/`). They are answers to the user, so they are not logged as internal errors."""

from __future__ import annotations

from collections.abc import Iterable


class ControlError(Exception):
    """A control could not be carried out."""


class InvalidControl(ControlError, ValueError):
    """A control was called with an argument that it does not accept. The cluster is unchanged.

    `parameter` is the name of the parameter. The text of the error is this name and the `reason`, unless `text` is another one.
    """

    def __init__(self, parameter: str, reason: str, *, text: str | None = None) -> None:
        super().__init__(f"{parameter}: {reason}" if text is None else text)
        self.parameter = parameter
        self.reason = reason

    @classmethod
    def at(cls, place: str, reason: str) -> InvalidControl:
        """Returns the error for a part of an argument. Its place, such as `records[3].key`, begins with the name of the parameter."""
        return cls(place.partition(".")[0].partition("[")[0], reason, text=f"{place}: {reason}")

    @classmethod
    def of_call(cls, parameter: str, text: str) -> InvalidControl:
        """Returns an error whose text does not begin with the name of a parameter, because it is about the call as a whole."""
        return cls(parameter, text, text=text)


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
    from difflib import get_close_matches

    known = [str(each) for each in names]
    if isinstance(name, str):
        name = name[:MAX_NAME_CHARACTERS]
    near = get_close_matches(str(name), known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(known[:20])}" if known else "there is none"
    return InvalidControl(parameter, f"there is no {what} {name!r}; {hint}")


def unknown_keyword(function: str, name: str, names: Iterable[str]) -> str:
    """Returns the text of the error for a keyword that a function does not have, with the nearest one of its keywords."""
    from difflib import get_close_matches

    known = list(names)
    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"it accepts {', '.join(known) or 'no arguments'}"
    return f"{function}() got an unexpected keyword argument {name!r}; {hint}"
