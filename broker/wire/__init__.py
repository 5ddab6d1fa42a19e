"""The record of what was on the wire, and everything that shows it."""
