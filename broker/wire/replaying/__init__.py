"""Plays a captured session again: which requests are sent when, with which ids, and how the responses are compared. Opens no connection."""
