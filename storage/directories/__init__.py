"""The files of Kafka's log directories (`log.dirs`): their names, readers and writers.

A log directory has a folder for each partition and some files of its own:

    meta.properties, bootstrap.checkpoint, recovery-point-offset-checkpoint, replication-offset-checkpoint, log-start-offset-checkpoint,
    .kafka_cleanshutdown, .lock
    orders-0/00000000000000000000.log, .index, .timeindex, .txnindex, .snapshot, leader-epoch-checkpoint, partition.metadata
    __cluster_metadata-0/  the same, and snapshots of the metadata named OFFSET-EPOCH.checkpoint

All integers are big-endian. Readers trust no file: they take no more memory than the file has bytes, and raise `DamagedFile`.
"""
