"""Numbers in front of nouns."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """Returns a number and its noun, such as "1 record" or "2 records". `plural` is needed where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
