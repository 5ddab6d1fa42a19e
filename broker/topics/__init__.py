"""Topics, partitions, and the cleaning of their logs."""
