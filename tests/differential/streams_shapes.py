"""Topologies of all kinds for the families of streams groups."""

from __future__ import annotations

from odradek.protocol.messages import streams_group_heartbeat as messages

from .streams_requests import ONE, SINGLE, TWO, WIDE, internal, part, topology


def shapes(group: str) -> dict[str, messages.Topology]:
    """Returns topologies of all kinds, valid and invalid, by name. Internal topics have names of their own."""
    r, s, c = (f"{group}-{name}" for name in "rsc")
    one, two, wide, single = ONE.name, TWO.name, WIDE.name, SINGLE.name
    return {
        "empty": topology(),
        "negative-epoch": topology(part("0", one), epoch=-1),
        "epoch-7": topology(part("0", one), epoch=7),
        "no-source": topology(part("0")),
        "no-source.changelog": topology(part("0", changelogs=[internal(c)])),
        "one-of-two-without-source": topology(part("0", one), part("1")),
        "twice": topology(part("0", one), part("0", two)),
        "same-twice": topology(part("0", one), part("0", one)),
        "two": topology(part("0", one), part("1", two)),
        "three": topology(part("0", one), part("1", wide), part("2", single)),
        "shared-source": topology(part("0", one), part("1", one)),
        "source-twice": topology(part("0", one, one)),
        "several-sources": topology(part("0", single, wide)),
        "names": topology(part("b", one), part("a", two), part("", single), part("ü", wide)),
        "missing": topology(part("0", f"{group}-none")),
        "missing.four": topology(part("0", *(f"{group}-none{index}" for index in (3, 1, 4, 2)))),
        "missing.five": topology(part("0", *(f"{group}-none{index}" for index in range(5))), part("1", one)),
        "missing.some": topology(part("0", one, f"{group}-none")),
        "internal-source": topology(part("0", "__consumer_offsets")),
        "internal-sink": topology(part("0", one, sinks=["__transaction_state"])),
        "internal-changelog": topology(part("0", one, changelogs=[internal("__share_group_state"), internal("__consumer_offsets")])),
        "illegal-source": topology(part("0", "a b", "", "..")),
        "illegal-changelog": topology(part("0", one, changelogs=[internal("ä")])),
        "illegal-sink": topology(part("0", one, sinks=["x" * 250])),
        "regex": topology(part("0", regexes=["streams-.*"])),
        "regex.also": topology(part("0", one, regexes=[""])),
        "changelog": topology(part("0", one, changelogs=[internal(c)])),
        "changelog.wide": topology(part("0", one, wide, changelogs=[internal(c), internal(s)])),
        "changelog.counted": topology(part("0", one, changelogs=[internal(c, 2)])),
        "changelog.negative": topology(part("0", one, changelogs=[internal(c, -1)])),
        "changelog.twice": topology(part("0", one, changelogs=[internal(c), internal(c)])),
        "changelog.shared": topology(part("0", one, changelogs=[internal(c)]), part("1", wide, changelogs=[internal(c)])),
        "changelog.of-source": topology(part("0", one, changelogs=[internal(one)])),
        "changelog.of-other-source": topology(part("0", one, changelogs=[internal(wide)])),
        "changelogs.five": topology(part("0", one, changelogs=[internal(f"{c}{index}") for index in range(5)])),
        "config": topology(part("0", one, changelogs=[internal(c, cleanup_policy="compact", retention_ms="77")])),
        "config.wrong": topology(part("0", one, changelogs=[internal(c, cleanup_policy="nonsense")])),
        "config.unknown": topology(part("0", one, changelogs=[internal(c, nonsense="1")])),
        "replicas": topology(part("0", one, changelogs=[internal(c, 0, 2)])),
        "replicas.too-many": topology(part("0", one, changelogs=[internal(c, 0, 3)])),
        "replicas.negative": topology(part("0", one, changelogs=[internal(c, 0, -1)])),
        "replicas.minus-2": topology(part("0", one, changelogs=[internal(c, 0, -2)])),
        "sink": topology(part("0", one, sinks=[r])),
        "repartition": topology(part("0", one, sinks=[r]), part("1", repartitions=[internal(r)])),
        "repartition.wide": topology(part("0", one, wide, sinks=[r]), part("1", repartitions=[internal(r)], changelogs=[internal(c)])),
        "repartition.fixed": topology(part("0", one, sinks=[r]), part("1", repartitions=[internal(r, 5)], changelogs=[internal(c)])),
        "repartition.fixed-without-sink": topology(part("1", repartitions=[internal(r, 3)])),
        "repartition.negative": topology(part("0", one, sinks=[r]), part("1", repartitions=[internal(r, -2)])),
        "repartition.huge": topology(part("0", one, sinks=[r]), part("1", repartitions=[internal(r, 1 << 30)])),
        "repartition.without-sink": topology(part("0", one), part("1", repartitions=[internal(r)])),
        "repartition.loop": topology(part("0", repartitions=[internal(r)], sinks=[r])),
        "repartition.long-loop": topology(
            part("0", repartitions=[internal(r)], sinks=[s]), part("1", repartitions=[internal(s)], sinks=[r])
        ),
        "repartition.opened-loop": topology(
            part("0", one, repartitions=[internal(r)], sinks=[s]), part("1", repartitions=[internal(s)], sinks=[r])
        ),
        "repartition.twice": topology(part("0", one, sinks=[r]), part("1", repartitions=[internal(r), internal(r)])),
        "repartition.two-writers": topology(part("0", one, sinks=[r]), part("1", wide, sinks=[r]), part("2", repartitions=[internal(r)])),
        "repartition.chain": topology(
            part("2", repartitions=[internal(s)], sinks=[c]),
            part("1", repartitions=[internal(r)], sinks=[s]),
            part("0", wide, sinks=[r]),
            part("3", repartitions=[internal(c)]),
        ),
        "repartition.chain-and-source": topology(
            part("a", single, repartitions=[internal(r)], sinks=[s]), part("b", wide, sinks=[r]), part("c", repartitions=[internal(s)])
        ),
        "repartition.is-source": topology(part("0", one, sinks=[two]), part("1", two, repartitions=[internal(two)])),
        "repartition.of-source": topology(part("0", wide, sinks=[two]), part("1", repartitions=[internal(two)])),
        "copartition": topology(part("0", one, two, copartitions=[([0, 1], [])])),
        "copartition.different": topology(part("0", one, wide, copartitions=[([0, 1], [])])),
        "copartition.three": topology(part("0", one, wide, single, copartitions=[([0, 1], []), ([1, 2], [])])),
        "copartition.empty": topology(part("0", one, copartitions=[([], [])])),
        "copartition.index": topology(part("0", one, copartitions=[([1], [])])),
        "copartition.negative": topology(part("0", one, copartitions=[([-1], [])])),
        "copartition.index-of-repartition": topology(part("0", one, copartitions=[([], [0])])),
        "copartition.index-and-missing": topology(part("0", f"{group}-none", copartitions=[([9], [])])),
        "copartition.repartition": topology(
            part("0", one, sinks=[r]), part("1", wide, repartitions=[internal(r)], copartitions=[([0], [0])], changelogs=[internal(c)])
        ),
        "copartition.fixed": topology(part("0", one, sinks=[r]), part("1", wide, repartitions=[internal(r, 4)], copartitions=[([0], [0])])),
        "copartition.fixed-otherwise": topology(
            part("0", one, sinks=[r]), part("1", wide, repartitions=[internal(r, 3)], copartitions=[([0], [0])])
        ),
        "copartition.repartitions": topology(
            part("0", one, sinks=[r]),
            part("1", wide, sinks=[s]),
            part("2", repartitions=[internal(r), internal(s)], copartitions=[([], [0, 1])]),
        ),
        "copartition.repartitions.fixed": topology(
            part("0", one, sinks=[r]),
            part("1", wide, sinks=[s]),
            part("2", repartitions=[internal(r, 3), internal(s)], copartitions=[([], [0, 1])]),
        ),
        "copartition.repartitions.different": topology(
            part("0", one, sinks=[r]),
            part("1", wide, sinks=[s]),
            part("2", repartitions=[internal(r, 3), internal(s, 5)], copartitions=[([], [0, 1])]),
        ),
        "copartition.fixed-elsewhere": topology(
            part("0", one, sinks=[r]),
            part("1", wide, sinks=[s, c]),
            part("2", repartitions=[internal(r), internal(s)], copartitions=[([], [0, 1])]),
            part("3", repartitions=[internal(c, 3)]),
        ),
    }
