"""Consumer groups and their committed offsets, as state machines without sockets, clocks and protocol messages.

`coordinator.Groups` is the entry point. It has one attribute for each kind of request:

* `Groups.classic` (`classic.requests`): JoinGroup, SyncGroup, Heartbeat and LeaveGroup,
* `Groups.consumer` (`consumer.requests`): ConsumerGroupHeartbeat,
* `Groups.share` (`share.requests`): ShareGroupHeartbeat and the offsets of share groups,
* `Groups.streams` (`streams.requests`): StreamsGroupHeartbeat,
* `Groups.offsets` (`offset_requests`): committed offsets, also those of transactions.

All share one `table.GroupTable`, which finds groups by id, creates them and writes them to `__consumer_offsets`. A group is a
`classic.group.ClassicGroup`, a `consumer.group.ConsumerGroup`, a `share.group.ShareGroup` or a `streams.group.StreamsGroup`; `conversion`
turns classic groups into consumer groups and back.
"""

from __future__ import annotations

import logging

log = logging.getLogger("kafka.coordinator.group.GroupCoordinator")
"""The logger of all modules of groups, which has the name of Kafka's logger for the group coordinator."""
