"""`odradek topics`: lists, describes, creates and deletes the topics of a cluster."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .cluster_access import show, show_each, with_client
from .options import add_cluster_options, count, pair

if TYPE_CHECKING:
    from ..client.cluster_client import ClusterClient

EXAMPLES = """\
examples:
  odradek topics
  odradek topics create orders --partitions 4 --config cleanup.policy=compact
  odradek topics describe orders --output json
  odradek topics delete orders payments
"""


def run(options: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Carries out the command. Returns 1 if the cluster cannot be reached or refuses, and 2 for a mistake in the call."""
    actions = {"list": _list, "describe": _describe, "create": _create, "delete": _delete}
    return with_client(options, environ, lambda client: actions[options.action](client, options, environ))


def _list(client: ClusterClient, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    from ..client.topics import list_topics

    show([topic for topic in list_topics(client) if options.internal or not topic.internal], options, environ)


def _describe(client: ClusterClient, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    from ..client.topics import describe_topics

    show_each(describe_topics(client, options.topics), options, environ)


def _create(client: ClusterClient, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    from ..client.topics import BROKER_DEFAULT, create_topics, describe_topics

    partitions, replicas = (each or BROKER_DEFAULT for each in (options.partitions, options.replication_factor))
    create_topics(client, options.topics, partitions, replicas, dict(options.config), may_exist=options.if_not_exists)
    show_each(describe_topics(client, options.topics), options, environ)


def _delete(client: ClusterClient, options: argparse.Namespace, environ: Mapping[str, str]) -> None:
    from ..client.topics import delete_topics

    delete_topics(client, options.topics)
    show([{"deleted": name} for name in options.topics], options, environ)


def add_options(topics: argparse.ArgumentParser) -> None:
    actions = topics.add_subparsers(dest="action", title="commands", metavar="list|describe|create|delete")
    listing = actions.add_parser("list", help="list the topics")
    listing.add_argument("--internal", action="store_true", help="list internal topics too, such as __consumer_offsets")
    describing = actions.add_parser("describe", help="show partitions, offsets and settings of topics")
    creating = actions.add_parser("create", help="create topics")
    creating.add_argument("--partitions", type=count, metavar="N", help="number of partitions (default: the broker's num.partitions)")
    replication_help = "number of replicas (default: the broker's default.replication.factor)"
    creating.add_argument("--replication-factor", type=count, metavar="N", help=replication_help)
    config_help = "a setting of the topic, such as cleanup.policy=compact; repeatable"
    creating.add_argument("--config", action="append", default=[], type=pair, metavar="KEY=VALUE", help=config_help)
    creating.add_argument("--if-not-exists", action="store_true", help="leave topics as they are if they exist")
    deleting = actions.add_parser("delete", help="delete topics")
    for action in (describing, creating, deleting):
        action.add_argument("topics", nargs="+", metavar="TOPIC", help="names of topics")
    add_cluster_options(topics, "table", listing, describing, creating, deleting)
    topics.set_defaults(action="list", internal=False)  # because `odradek topics` lists the topics
