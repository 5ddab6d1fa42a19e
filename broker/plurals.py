"""Numbers in front of nouns."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """Returns a number and its noun, such as "1 record" or "2 records". `plural` is needed where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def ordinal(number: int) -> str:
    """Returns "1st", "2nd", "3rd", "4th" and so on."""
    suffix = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"
