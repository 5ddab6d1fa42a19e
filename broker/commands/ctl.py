"""`odradek ctl`: carries out a control of a running cluster through its control listener."""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from itertools import takewhile
from pathlib import Path
from typing import Any

from ..control_errors import InvalidControl, unknown
from ..controls import cluster_controls  # noqa: F401  (declares the controls)
from ..controls.interface.command_line import find_control, pairs_of
from ..controls.interface.signatures import bind_texts
from ..process.terminal import has_colours
from ..settings.properties import read_properties
from .clock_progress import progress_of
from .ctl_client import NoControlAnswer, send
from .options import control_address
from .tables import as_table

FAILED, MISTAKEN = 1, 2
OPTIONS = {"--control": "ODRADEK_CONTROL", "--control-token": "ODRADEK_CONTROL_TOKEN", "--output": "", "--command-config": ""}
"""The options of every command that have a value, each with the environment variable that replaces it."""
PROPERTIES = {"--control": "odradek.control", "--control-token": "odradek.control.token"}
"""The settings in the file of --command-config. Others, such as those of Kafka's programs, are ignored."""
OUTPUTS = ("table", "json")


def run(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Carries out a command. Returns 0 for success, 1 if it did not happen, and 2 for a mistake in the call."""
    try:
        for text in arguments:
            text.encode()
        options, tokens = _options(arguments, environ)
        named = list(takewhile(lambda token: token != "--", tokens))
        if not tokens or "--help" in named or "-h" in named:
            from ..controls.interface.command_help import help_of

            sys.stdout.write(help_of([token for token in named if not token.startswith("-")]))
            return 0
        return _carry_out(tokens, options, colours=has_colours(sys.stdout, environ))
    except UnicodeEncodeError:
        return _fail(MISTAKEN, "the arguments must be UTF-8")
    except (InvalidControl, ArgumentTypeError) as error:
        return _fail(MISTAKEN, str(error))
    except NoControlAnswer as error:
        return _fail(FAILED, str(error))


def _carry_out(tokens: Sequence[str], options: Mapping[str, str], *, colours: bool) -> int:
    control, arguments = find_control(tokens)
    pairs = pairs_of(control, arguments)
    bound = {name: _absolute(value) for name, value in bind_texts(control, pairs).items()}
    host, port = control_address(options.get("--control"), {})
    token = options.get("--control-token")
    with progress_of(control, lambda each: send(host, port, token, each, (), {})):
        answer = send(host, port, token, control, pairs, bound)
    if answer.status >= 400:
        return _fail(FAILED if answer.status == HTTPStatus.CONFLICT or answer.status >= 500 else MISTAKEN, answer.detail)
    if answer.body:
        sys.stdout.write(answer.body if options["--output"] == "json" else as_table(json.loads(answer.body), colours=colours))
        sys.stdout.flush()
    return 0


def _absolute(value: Any) -> Any:
    """Returns the path of a file for the cluster, whose working directory may be another one."""
    return value.absolute() if isinstance(value, Path) else value


def _options(arguments: Sequence[str], environ: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Returns the options of every command, with defaults from the environment, and the other tokens. Raises InvalidControl."""
    options = {"--output": "table"} | {name: environ[variable] for name, variable in OPTIONS.items() if environ.get(variable)}
    tokens: list[str] = []
    rest = iter(arguments)
    for token in rest:
        name, separator, text = token.partition("=")
        if name in OPTIONS:
            value = text if separator else next(rest, None)
            if value is None:
                raise InvalidControl(name, "needs a value")
            options[name] = value
        elif token == "--":
            tokens += [token, *rest]
        else:
            tokens.append(token)
    options = _command_config(options.get("--command-config")) | options
    if options["--output"] not in OUTPUTS:
        raise unknown("--output", "format", options["--output"], OUTPUTS)
    if not re.fullmatch("[!-~]*", options.get("--control-token", "")):
        raise InvalidControl("--control-token", "use printable ASCII characters without spaces")
    return options, tokens


def _command_config(name: str | None) -> dict[str, str]:
    """Returns the options in a properties file. Raises InvalidControl if it cannot be read."""
    if name is None:
        return {}
    try:
        properties = read_properties(name)
    except OSError as error:
        raise InvalidControl("--command-config", f"cannot read {name}: {error.strerror or error}") from None
    return {option: properties[setting] for option, setting in PROPERTIES.items() if setting in properties}


def _fail(code: int, message: str) -> int:
    print(f"odradek ctl: {message}", file=sys.stderr)
    return code
