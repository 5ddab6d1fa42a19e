"""The records of share partitions: which member holds which of them, and which are done with.

`share_partition.SharePartition` is the state machine of one share partition (Kafka's SharePartition). `share_partitions.SharePartitions`
has those of one broker, with the sessions of its clients. `states.ShareStates` is the state of all share partitions that the share
coordinator stores in `__share_group_state`. A restart loses the first two, and reads the third back.
"""
