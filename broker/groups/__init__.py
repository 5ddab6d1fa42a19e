"""Consumer groups and their committed offsets, as state machines that know no socket, no clock and no message.

`coordinator.Groups` is the door. `classic.ClassicGroup` is one group of the classic protocol (JoinGroup and SyncGroup), made of
`member.Member`s; `offsets.CommittedOffsets` is what one group has committed.
"""
