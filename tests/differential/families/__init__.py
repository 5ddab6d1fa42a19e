"""The families of cases, one module for each."""

from __future__ import annotations

from ..case import Family
from . import (
    acls,
    admin,
    auto_creation,
    batches,
    configs,
    consumer_groups,
    dynamic,
    extremes,
    features,
    fetch,
    forms,
    group_lists,
    group_offsets,
    group_order,
    group_states,
    groups,
    offsets,
    only_classic,
    produce,
    quotas,
    replicas,
    security,
    sequences,
    transactions,
)

FAMILIES: dict[str, Family] = {
    "produce": Family(produce.cases),
    "batches": Family(batches.cases),
    "sequences": Family(sequences.cases),
    "fetch": Family(fetch.cases),
    "offsets": Family(offsets.cases),
    "forms": Family(forms.cases),
    "groups": Family(groups.cases),
    "group_states": Family(group_states.cases),
    "consumer_groups": Family(consumer_groups.cases),
    "group_offsets": Family(group_offsets.cases),
    "group_order": Family(group_order.cases, group_order.SETTINGS, coordinators=group_order.COORDINATORS),
    "group_lists": Family(group_lists.cases),
    "only_classic": Family(only_classic.cases, only_classic.SETTINGS),
    "extremes": Family(extremes.cases, extremes.SETTINGS),
    "transactions": Family(transactions.cases),
    "admin": Family(admin.cases),
    "auto_creation": Family(auto_creation.cases, auto_creation.SETTINGS, nodes=1),
    "replicas": Family(replicas.cases, replicas.SETTINGS, nodes=3),
    "configs": Family(configs.cases),
    "features": Family(features.cases),
    "quotas": Family(quotas.cases),
    "security": Family(security.cases),
    "dynamic": Family(dynamic.cases),
    "acls": Family(acls.cases, acls.SETTINGS),
}
"""The families by name."""
