"""One partition's log in memory, and what is known of the producers that write to it. Knows nothing of the wire or of brokers."""
