"""Share partitions: the state machine of one, those of a broker, and the share coordinator, which stores their state.

`share_partition.SharePartition` is the state machine of one share partition (Kafka's SharePartition). `share_partitions.SharePartitions`
has those of one broker, with the sessions of its clients. `coordinator.ShareCoordinator` stores the state of all share
partitions in `__share_group_state`. A restart loses the first two, and reads the third back.
"""
