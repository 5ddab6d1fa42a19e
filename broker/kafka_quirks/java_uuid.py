"""The text of Kafka's UUIDs, which clients see in names, messages and labels."""

from __future__ import annotations

from base64 import urlsafe_b64encode


def uuid_text(value: bytes) -> str:
    """Returns the text of a UUID of 16 bytes in Kafka's form (Uuid.toString): base 64 without padding."""
    return urlsafe_b64encode(value).decode().rstrip("=")
