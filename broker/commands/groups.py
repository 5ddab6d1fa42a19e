"""`odradek groups`: lists and describes groups of a cluster, moves their offsets, and deletes them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .cluster_access import show, show_each, with_client
from .options import add_cluster_options, start

if TYPE_CHECKING:
    from ..client.cluster_client import ClusterClient

EXAMPLES = """\
examples:
  odradek groups
  odradek groups describe billing
  odradek groups reset-offsets billing --topic orders --to earliest
  odradek groups delete billing
"""


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Carries out the command. Returns 1 if the cluster cannot be reached or refuses, and 2 for a mistake in the call."""
    actions = {"list": _list, "describe": _describe, "reset-offsets": _reset_offsets, "delete": _delete}
    return with_client(options, environ, lambda client: actions[options.action](client, options, environ))


def _list(client: ClusterClient, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    from ..client.groups import list_groups

    show(list_groups(client), options, environ)


def _describe(client: ClusterClient, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    from ..client.groups import describe_groups

    show_each(describe_groups(client, options.groups), options, environ)


def _reset_offsets(client: ClusterClient, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    """Moves the offsets of a group, which need not exist yet, in all partitions of the topics."""
    from ..client.cluster_client import ClientError
    from ..client.groups import commit, committed_offsets
    from ..client.offsets import READ_UNCOMMITTED, starts

    before = committed_offsets(client, options.group)
    topics = set(options.topic) or {each.topic for each in before}
    if not topics:
        raise ClientError(f"group {options.group} has committed no offsets; name topics with --topic")
    leaders = client.leaders(client.topics(topics))
    offsets = client.retry(lambda: starts(client, leaders, options.to, READ_UNCOMMITTED))
    if not options.dry_run:
        commit(client, options.group, offsets)
    show([{**each._asdict(), "before": before.get(each), "after": offsets[each]} for each in sorted(offsets)], options, environ)


def _delete(client: ClusterClient, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    from ..client.groups import delete_groups

    delete_groups(client, options.groups)
    show([{"deleted": name} for name in options.groups], options, environ)


def add_options(groups: argparse.ArgumentParser) -> None:
    actions = groups.add_subparsers(dest="action", title="commands", metavar="list|describe|reset-offsets|delete")
    listing = actions.add_parser("list", help="list the groups")
    describing = actions.add_parser("describe", help="show members, committed offsets and lag of groups")
    resetting = actions.add_parser("reset-offsets", help="move the committed offsets of a group that has no members")
    resetting.add_argument("group", metavar="GROUP", help="id of the group")
    to_help = "earliest, latest, an offset, -N for N records before the end, or a time such as 2026-01-31T12:00:00Z"
    resetting.add_argument("--to", type=start, required=True, metavar="PLACE", help=to_help)
    topic_help = "move the offsets in this topic (default: in all that the group has read); repeatable"
    resetting.add_argument("--topic", action="append", default=[], metavar="TOPIC", help=topic_help)
    resetting.add_argument("--dry-run", action="store_true", help="show the offsets without committing them")
    deleting = actions.add_parser("delete", help="delete groups that have no members")
    for action in (describing, deleting):
        action.add_argument("groups", nargs="+", metavar="GROUP", help="ids of groups")
    add_cluster_options(groups, "table", listing, describing, resetting, deleting)
    groups.set_defaults(action="list")  # because `odradek groups` lists the groups
