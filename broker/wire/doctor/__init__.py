"""Finds mistakes of clients in a list of entries, and says which setting to change."""
