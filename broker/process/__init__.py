"""The cluster as a process: what `odradek serve` adds to a cluster, such as signals, progress, the trace and a program beside it."""
