"""Transactions: what a transactional id goes through, and the coordinator of all of them. State machines without sockets or clocks."""
