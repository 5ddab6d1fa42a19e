"""Controls on the command line: `odradek ctl node stop 2`.

The words of a control are followed by its arguments. Every parameter may be given as an option, `timeout_s` as `--timeout-s 5` or
`--timeout-s=5`. Required parameters, and others that Python accepts without a name, may also be given in order without the option. Options
of lists and mappings may be repeated, and a flag is `--graceful` or `--no-graceful`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from ...control_errors import InvalidControl, unknown
from ..declaration import CONTROLS, Control
from .results import json_of
from .shapes import Boolean
from .signatures import Parameter, parameters_of
from .structures import Alternatives, Null

Pair = tuple[str, str]


def find_control(tokens: Sequence[str]) -> tuple[Control, list[str]]:
    """Returns the control with whose words a command begins, and its arguments. Raises InvalidControl for other words."""
    for count in range(len(tokens), 0, -1):
        if found := CONTROLS.get(tuple(tokens[:count])):
            return found, list(tokens[count:])
    group = group_of(tokens)
    following = sorted({" ".join(words[: len(group) + 1]) for words in CONTROLS if words[: len(group)] == group})
    if len(group) == len(tokens):
        raise InvalidControl.of_call("command", f"give a command: {', '.join(following)}")
    error = unknown("command", "command", " ".join(tokens[: len(group) + 1]), following)
    raise InvalidControl.of_call("command", error.reason)


def group_of(tokens: Sequence[str]) -> tuple[str, ...]:
    """Returns the longest beginning of the tokens with which the words of controls begin."""
    beginnings = {words[:count] for words in CONTROLS for count in range(len(words))}
    return next(found for count in range(len(tokens), -1, -1) if (found := tuple(tokens[:count])) in beginnings)


def pairs_of(control: Control, tokens: Sequence[str]) -> list[Pair]:
    """Returns the names of the parameters in the arguments of a command, each with its text. Raises InvalidControl."""
    pairs: list[Pair] = []
    rest = iter(tokens)
    for token in rest:
        if token == "--":
            for each in rest:
                pairs.append((_next_positional(control, pairs, each), each))
        elif token.startswith("--"):
            pairs.append(_option(control, token, rest))
        elif re.match("-[A-Za-z]", token):
            raise unknown(token, "option", token, map(option_of, parameters_of(control)))
        else:
            pairs.append((_next_positional(control, pairs, token), token))
    return pairs


def _option(control: Control, token: str, rest: Iterator[str]) -> Pair:
    option, separator, text = token.partition("=")
    parameters = parameters_of(control)
    name = option[2:].replace("-", "_")
    if not separator and (flag := parameters.get(name.removeprefix("no_"))) is not None and is_flag(flag):
        return flag.name, "true" if flag.name == name else "false"
    if name not in parameters:
        raise unknown(option, "option", option, map(option_of, parameters))
    if not separator and (value := next(rest, None)) is None:
        raise InvalidControl(option, f"needs a value ({parameters[name].help})")
    return name, text if separator else str(value)


def _next_positional(control: Control, pairs: Sequence[Pair], token: str) -> str:
    """Returns the parameter to which an argument without an option belongs."""
    given = {name for name, _ in pairs}
    for parameter in positionals_of(control):
        if parameter.name not in given or (parameter.shape.repeats and parameter.name == pairs[-1][0]):
            return parameter.name
    raise InvalidControl.of_call(token, f"unexpected argument {token!r}")


def positionals_of(control: Control) -> list[Parameter]:
    """Returns the parameters that may be given without their names, in order."""
    return [each for each in parameters_of(control).values() if each.required or each.positional]


def is_flag(parameter: Parameter) -> bool:
    """Returns whether the option of a parameter needs no value."""
    members = parameter.shape.members if isinstance(parameter.shape, Alternatives) else [parameter.shape]
    return all(isinstance(member, Boolean | Null) for member in members)


def option_of(name: str) -> str:
    return "--" + name.replace("_", "-")


def command_of(control: Control, arguments: dict[str, Any]) -> str:
    """Returns the command that carries out a control with JSON values as arguments."""
    in_order = names_in_order(positionals_of(control), arguments)
    words = [text for name in in_order for text in _texts(arguments[name])]
    named = [(name, text) for name, value in arguments.items() if name not in in_order for text in _texts(value)]
    return shlex.join(["odradek", "ctl", *control.words, *words, *(part for name, text in named for part in (option_of(name), text))])


def names_in_order(parameters: Iterable[Parameter], arguments: Container[str]) -> list[str]:
    """Returns the names of the first parameters, up to the one before the first that is not given."""
    return [each.name for each in takewhile(lambda each: each.name in arguments, parameters)]


def _texts(value: Any) -> list[str]:
    """Returns the texts of which `Shape.of_texts` makes a JSON value."""
    if isinstance(value, list):
        return [text for each in value for text in _texts_of_item(each)]
    if isinstance(value, dict):
        return [f"{name}={_texts_of_item(each)[0]}" for name, each in value.items()]
    return _texts_of_item(value)


def _texts_of_item(value: Any) -> list[str]:
    return [value if isinstance(value, str) else json_of(value)]
