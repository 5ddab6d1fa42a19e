"""Share groups (KIP-932): many members read one partition together, and each record is acknowledged on its own.

The package `partitions` holds the records that members have acquired. `partitions_view.py` is the part of it that the group coordinator
calls.
"""
