"""Topics and partitions: their names, replicas, retention and compaction."""
