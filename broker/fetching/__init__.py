"""Reading record batches for Fetch: one pass over the requested partitions."""
