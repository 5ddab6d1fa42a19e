"""A data directory: the files that follow the state of a cluster, and the start from them."""
