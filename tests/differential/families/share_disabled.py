"""Every request of share groups while share.version is 0, and the groups that exist when the feature is disabled and enabled again."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case, Pause, Step
from ..group_requests import delete_groups, list_groups
from ..share_group_requests import (
    ONE,
    SETTINGS,
    SETTLE,
    TOPICS,
    ShareMember,
    alter_share,
    delete_share,
    describe_shares,
    set_configs,
    share_offsets,
    share_offsets_of_groups,
)
from .features import SAFE, UNSAFE, UPGRADE, update

__all__ = ["SETTINGS", "cases"]

SHARES = "share.version"
DISABLED, ENABLED = update((SHARES, 0, SAFE)), update((SHARES, 1, UPGRADE))


def cases() -> Iterator[Case]:
    m = ShareMember("share_disabled.first")
    yield Case("share_disabled.first", TOPICS, (m.join(), Pause(3000), m.beat(2)))
    for name, update_of in (
        ("unsafe", update((SHARES, 0, UNSAFE), validate_only=True)),
        ("upgrade", update((SHARES, 0, UPGRADE))),
        ("high", update((SHARES, 2, UPGRADE))),
        ("low", update((SHARES, -1, SAFE))),
        ("same", update((SHARES, 1, UPGRADE))),
    ):
        yield Case(f"share_disabled.update.{name}", TOPICS, (update_of,))
    group = "share_disabled.group"
    m = ShareMember(group)
    begin: tuple[Step, ...] = (m.join(), SETTLE, m.beat(2), DISABLED, Pause(300))
    for name, send in (
        ("beat", m.beat(3)),
        ("join", m.join()),
        ("leave", m.leave()),
        ("wrong", m.beat(-3, group_id="")),
        ("describe", describe_shares(group, "none", "", operations=True)),
        ("offsets", share_offsets(group)),
        ("offsets-of-one", share_offsets(group, {ONE.name: [0]}, version=0)),
        ("offsets-of-groups", share_offsets_of_groups({"group_id": "", "topics": []}, {"group_id": group, "topics": None})),
        ("alter", alter_share(group, {ONE.name: {0: 1}})),
        ("delete-offsets", delete_share(group, ONE.name)),
        ("delete", delete_groups(group)),
        ("list", list_groups(types=["share"])),
        ("configs", set_configs(group, share_heartbeat_interval_ms="6000")),
    ):
        yield Case(f"share_disabled.{name}", TOPICS, (send, ENABLED, Pause(300), describe_shares(group), m.join(), m.leave()), begin)
