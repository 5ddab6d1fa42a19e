"""`odradek completion`: prints the script with which a shell completes commands, options, and the names of topics and groups.

The script calls `odradek` at each Tab. argcomplete then finds the words that are possible in the parser, to which the commands of
`odradek ctl` are added from the declarations of controls.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .options import Parser, refuse

if TYPE_CHECKING:
    from ..client.cluster_client import ClusterClient
    from ..controls.declaration import Control
    from ..controls.interface.shapes import Shape

EXAMPLES = """\
examples:
  eval "$(odradek completion bash)"      in ~/.bashrc
  eval "$(odradek completion zsh)"       in ~/.zshrc, behind compinit
  odradek completion fish | source       in ~/.config/fish/config.fish

It needs the package argcomplete: pip install 'odradek[completion]'
"""
SHELLS = ("bash", "zsh", "fish")
TIMEOUT_S = 2.0
"""The longest time for which a cluster may delay a completion."""
FILES = ("FILE", "DIR", "DIR|FILE|PATTERN")
Completer = Callable[..., Iterable[str]]


def run(options: argparse.Namespace, _: Mapping[str, str]) -> int:
    """Prints the script for a shell. Returns 2 if argcomplete is not installed."""
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        return refuse("completion needs the package argcomplete: pip install 'odradek[completion]'")
    print(shellcode(["odradek"], shell=options.shell).strip())
    return 0


def add_options(completion: argparse.ArgumentParser) -> None:
    completion.add_argument("shell", choices=SHELLS, help="the shell")


def complete(parser: Parser, environ: Mapping[str, str]) -> None:
    """Writes the completions of the command line in the environment, and ends the process."""
    from argcomplete import autocomplete
    from argcomplete.completers import FilesCompleter, SuppressCompleter

    if " ctl " in environ.get("COMP_LINE", ""):
        add_controls(parser)
    completers: dict[str, Completer] = {"TOPIC": _names(environ, _topics), "GROUP": _names(environ, _groups)}
    for action in _actions(parser):
        metavar = str(action.metavar)
        if metavar in completers or metavar in FILES:
            action.completer = completers.get(metavar, FilesCompleter())  # type: ignore[attr-defined]
    autocomplete(parser, always_complete_options=False, default_completer=SuppressCompleter())


def _actions(parser: Parser) -> Iterator[argparse.Action]:
    """Yields the options and arguments of a parser and of its commands."""
    for action in parser.actions:
        yield action
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                yield from _actions(command)


def _names(environ: Mapping[str, str], names_of: Callable[[ClusterClient], Iterable[str]]) -> Completer:
    """Returns the function with which argcomplete asks for names. It finds none if the cluster does not answer."""

    def complete(*, parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
        from ...protocol.errors import KafkaError
        from ...protocol.schema import ProtocolError
        from ..client.cluster_client import ClientError, ClusterClient
        from ..settings.properties import InvalidConfig
        from .cluster_access import bootstrap_servers
        from .options import client_security

        options = argparse.Namespace(**{"bootstrap_server": None, "command_config": None} | vars(parsed_args))
        try:
            with ClusterClient(bootstrap_servers(options, environ), client_security(options), TIMEOUT_S) as client:
                return list(names_of(client))
        except (ClientError, KafkaError, ProtocolError, InvalidConfig, ImportError):
            return []

    return complete


def _topics(client: ClusterClient) -> Iterable[str]:
    from ..client.topics import list_topics

    return (topic.name for topic in list_topics(client) if not topic.internal)


def _groups(client: ClusterClient) -> Iterable[str]:
    from ..client.groups import list_groups

    return (group.group_id for group in list_groups(client))


def add_controls(parser: Parser) -> None:
    """Adds the commands of `odradek ctl`, whose own parser follows from the declarations too."""
    from ..controls import cluster_controls  # noqa: F401  (declares the controls)
    from ..controls.declaration import CONTROLS
    from ..controls.interface.command_help import summary_of

    (commands,) = (action.choices for action in parser.actions if isinstance(action.choices, dict))
    parsers: dict[tuple[str, ...], Parser] = {(): commands["ctl"]}
    groups: dict[tuple[str, ...], Any] = {}
    for words, control in CONTROLS.items():
        for length, word in enumerate(words):
            parent = words[:length]
            if parent not in groups:
                groups[parent] = parsers[parent].add_subparsers(metavar="COMMAND")
            if (name := words[: length + 1]) not in parsers:
                summary = summary_of(control) if name == words else f"controls of {word}"
                parsers[name] = groups[parent].add_parser(word, help=summary)
        _add_arguments(parsers[words], control)


def _add_arguments(parser: Parser, control: Control) -> None:
    from ..controls.interface.command_help import COMMON_OPTIONS, in_command_words
    from ..controls.interface.command_line import is_flag, option_of, positionals_of
    from ..controls.interface.signatures import parameters_of

    positionals = positionals_of(control)
    for parameter in parameters_of(control).values():
        help_text = in_command_words(parameter.help, control)
        metavar = parameter.name.rpartition("_")[2].upper()
        choices = _choices(parameter.shape)
        if parameter in positionals:  # it may be given as an option too
            parser.add_argument(parameter.name, nargs="*" if parameter.shape.repeats else "?", choices=choices, metavar=metavar)
        if is_flag(parameter):
            parser.add_argument(option_of(parameter.name), action=argparse.BooleanOptionalAction, help=help_text)
        else:
            parser.add_argument(option_of(parameter.name), choices=choices, metavar=metavar, help=help_text)
    for label, text in COMMON_OPTIONS:
        option, _, metavar = label.partition(" ")
        if metavar:
            parser.add_argument(option, choices=metavar.split("|") if "|" in metavar else None, metavar=metavar, help=text)


def _choices(shape: Shape) -> list[str] | None:
    """Returns the texts of which a parameter is one, None if there is no list of them."""
    from ..controls.interface.shapes import Choice
    from ..controls.interface.structures import Alternatives, ListOf, Null

    if isinstance(shape, Choice):
        return list(map(str, shape.values))
    if isinstance(shape, Alternatives):
        (first, *others) = (each for each in shape.members if not isinstance(each, Null))
        return None if others else _choices(first)
    return _choices(shape.item) if isinstance(shape, ListOf) else None
