"""Share groups (KIP-932): many members read one partition together, and each record is acknowledged on its own.

The records that members have acquired belong to the share coordinator (`broker/share_partitions/`).
"""
