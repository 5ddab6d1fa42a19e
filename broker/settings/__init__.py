"""Settings of brokers, topics and groups: the table of all settings, where their values come from, and how they are checked."""
