"""Broker, topic and group settings: the table of rows, parsed values, and their sources."""
