"""The HTTP listener of the schema registry."""
