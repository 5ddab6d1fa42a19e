"""The log of one partition in memory, and the state of the producers that write to it.

The package does not depend on the protocol, apart from the positions of five header fields in a record batch (`segments.py`).
"""
