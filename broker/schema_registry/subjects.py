"""Names of subjects and contexts (Confluent's QualifiedSubject).

A subject belongs to a context, which is part of its name: `:.payments:orders-value` is the subject `orders-value` of the context
`.payments`. Without a context it belongs to the default context, `.`; `:.:orders-value` is the same as `orders-value`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

DEFAULT_CONTEXT = "."
GLOBAL_CONTEXT = ".__GLOBAL"
"""The context whose config and mode apply to subjects of all contexts that have none."""
ALL_CONTEXTS = ":*:"
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")
_RESERVED = frozenset({"__GLOBAL", "__EMPTY"})


class Subject(NamedTuple):
    """A subject with its context. An empty name stands for the context as a whole."""

    context: str
    name: str

    @classmethod
    def parse(cls, text: str) -> Subject:
        """Returns the subject that a text names."""
        if text.startswith(":."):
            context, _, name = text[1:].partition(":")
            return cls(context, name)
        if text.startswith(ALL_CONTEXTS):
            return cls("*", text.removeprefix(ALL_CONTEXTS))
        return cls(DEFAULT_CONTEXT, text)

    def __str__(self) -> str:
        return prefix_of(self.context) + self.name

    @property
    def is_default_context(self) -> bool:
        """Whether this is the default context as a whole, whose config and mode are the global ones."""
        return self == (DEFAULT_CONTEXT, "")


def prefix_of(context: str) -> str:
    """Returns what the names of the subjects of a context begin with."""
    return "" if context == DEFAULT_CONTEXT else f":{context}:"


def normal_name(text: str) -> str:
    """Returns the name of a subject without a prefix for the default context."""
    return str(Subject.parse(text))


def context_of(subject: str) -> str:
    """Returns the context of a subject."""
    return Subject.parse(subject).context if subject.startswith(":") else DEFAULT_CONTEXT


def qualified_name(subject: str, parent: str) -> str:
    """Returns the name of a subject that another one refers to: it is in the context of `parent`, unless it names one."""
    given = Subject.parse(subject)
    return str(Subject(context_of(parent), subject) if given.context == DEFAULT_CONTEXT else given)


def is_valid_subject(text: str, *, for_settings: bool = False) -> bool:
    """Returns whether a text may name a subject. Only config and mode may belong to the global context."""
    if _CONTROL.search(text):
        return False
    subject = Subject.parse(text)
    return subject.name not in _RESERVED and (for_settings or subject.context != GLOBAL_CONTEXT)
