"""The entries of a test as a few lines: what changed something or failed, in order, and the rest folded."""
