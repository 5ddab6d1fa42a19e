"""The names of Kafka's internal topics."""

from __future__ import annotations

CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SHARE_GROUP_STATE = "__share_group_state"
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, SHARE_GROUP_STATE})
CLUSTER_METADATA = "__cluster_metadata"
"""The log of the metadata quorum. It is not a topic: clients can neither create it nor read it."""
