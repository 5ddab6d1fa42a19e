"""The records of share partitions: which member holds which of them, and which are done with.

`share_partition.SharePartition` is the state machine of one share partition (Kafka's SharePartition), `manager.SharePartitionManager` those
of one broker with the sessions of its clients, and `states.ShareStates` what the share coordinator stores of them in
`__share_group_state`. A restart loses the first two, and reads the third back.
"""
