"""Principals, ACLs and their evaluation."""
