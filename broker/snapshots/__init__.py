"""The state of a cluster as plain values: snapshots, and the file in which a state is saved."""
