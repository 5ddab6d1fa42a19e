"""Transactions: the state machine of a transactional id, and the coordinator of all ids. They use no sockets and no clocks."""
