"""The HTTP listener through which other programs use the controls of a cluster."""
