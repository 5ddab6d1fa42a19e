"""Consumer groups and their committed offsets, as state machines without sockets, clocks and protocol messages.

`coordinator.Groups` is the entry point. It has one attribute for each kind of request:

* `Groups.classic` (`classic_requests`): JoinGroup, SyncGroup, Heartbeat and LeaveGroup,
* `Groups.consumer` (`consumer_requests`): ConsumerGroupHeartbeat,
* `Groups.offsets` (`offset_requests`): committed offsets, also those of transactions.

All three share one `table.GroupTable`, which finds groups by id, creates them and writes them to `__consumer_offsets`. A group is a
`classic.group.ClassicGroup` or a `consumer.group.ConsumerGroup`; `conversion` turns one kind into the other.
"""
