"""Consumer groups and their committed offsets, as state machines without sockets, clocks and protocol messages.

`coordinator.Groups` is the entry point. It has one attribute for each kind of request:

* `Groups.classic` (`classic_requests`): JoinGroup, SyncGroup, Heartbeat and LeaveGroup,
* `Groups.consumer` (`consumer_requests`): ConsumerGroupHeartbeat,
* `Groups.share` (`share.requests`): ShareGroupHeartbeat and the offsets of share groups,
* `Groups.offsets` (`offset_requests`): committed offsets, also those of transactions.

All share one `table.GroupTable`, which finds groups by id, creates them and writes them to `__consumer_offsets`. A group is a
`classic.group.ClassicGroup`, a `consumer.group.ConsumerGroup` or a `share.group.ShareGroup`; `conversion` turns classic groups into
consumer groups and back.
"""
