"""Forms: how the values of a type become plain values, and how they are read back.

Plain values are None, bool, int, float, str, bytes, lists and dictionaries of plain values with strings as keys, and `Segment`s, which
share the memory of logs and never change. Writing always returns new lists and dictionaries, and reading never keeps those that it reads,
so that a written state stays as it is.

A `Record` is the form of a class. It names each attribute that is state, with its form, and each attribute that is not: references to
other parts of the cluster, and values that follow from the state. `tests/broker/snapshots/test_forms.py` fails if a class has an attribute
that its record does not name.

Reading takes `shift_ms`, the time that has passed in the cluster since the state was written. Times of the form `MOMENT` are moved by it,
so that sessions, time-outs and expiries have as much time left as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Plain = Any
"""A plain value, see above."""


class Form:
    """Two functions: `write(value)` returns a plain value, `read(plain, shift_ms)` returns the value."""

    def __init__(self, write: Callable[[Any], Plain], read: Callable[[Plain, int], Any]) -> None:
        self.write, self.read = write, read


PLAIN = Form(lambda value: value, lambda plain, shift_ms: plain)
"""A value that is plain itself and never changes."""
MOMENT = Form(lambda value: value, lambda plain, shift_ms: plain + shift_ms if plain is not None and plain > 0 else plain)
"""A time in milliseconds since the Unix epoch. None, zero and negative numbers stand for no time."""
KEYS = Form(list, lambda plain, shift_ms: dict.fromkeys(plain))
"""A dictionary that is used as an ordered set of plain values."""


def listed(item: Form = PLAIN, kind: Callable[[Iterable[Any]], Any] = list) -> Form:
    """Returns the form of a list, or of another container that `kind` makes of the items in order."""
    if item is PLAIN:
        return Form(list, lambda plain, shift_ms: kind(plain))
    return Form(
        lambda values: [item.write(value) for value in values],
        lambda plain, shift_ms: kind([item.read(value, shift_ms) for value in plain]),
    )


def ordered(item: Form = PLAIN, kind: Callable[[Iterable[Any]], Any] = set) -> Form:
    """Returns the form of a set, which is written in ascending order."""
    read = listed(item, kind).read
    return Form(lambda values: [item.write(value) for value in sorted(values)], read)


def mapped(key: Form, value: Form, kind: Callable[[Iterable[Any]], Any] = dict) -> Form:
    """Returns the form of a dictionary, which is written as a list of [key, value] in the order of the dictionary."""
    if key is PLAIN and value is PLAIN:
        return Form(lambda values: [list(item) for item in values.items()], lambda plain, shift_ms: kind(plain))
    return Form(
        lambda values: [[key.write(name), value.write(item)] for name, item in values.items()],
        lambda plain, shift_ms: kind([(key.read(name, shift_ms), value.read(item, shift_ms)) for name, item in plain]),
    )


def keyed(item: Form, key: str) -> Form:
    """Returns the form of a dictionary of objects by their attribute `key`, which is written as a list of the objects in order."""
    return Form(
        lambda values: [item.write(value) for value in values.values()],
        lambda plain, shift_ms: {value[key]: item.read(value, shift_ms) for value in plain},
    )


def optional(form: Form) -> Form:
    """Returns the form of a value that may be None."""
    return Form(
        lambda value: None if value is None else form.write(value),
        lambda plain, shift_ms: None if plain is None else form.read(plain, shift_ms),
    )


def named(kind: Any, **forms: Form) -> Form:
    """Returns the form of a named tuple, which is written as a list. `forms` are those of its fields that are not plain."""
    if not forms:
        return Form(list, lambda plain, shift_ms: kind(*plain))
    every = [forms.get(name, PLAIN) for name in kind._fields]
    return Form(
        lambda value: [form.write(item) for form, item in zip(every, value, strict=True)],
        lambda plain, shift_ms: kind(*[form.read(item, shift_ms) for form, item in zip(every, plain, strict=True)]),
    )


def coded(kind: Any) -> Form:
    """Returns the form of an enumeration, whose members are written as their values."""
    return Form(lambda member: member.value, lambda plain, shift_ms: kind(plain))


TUPLE = Form(list, lambda plain, shift_ms: tuple(plain))
"""A tuple of plain values."""


class Record(Form, Generic[T]):
    """The form of a class: a dictionary with the attributes that are state. A class without state has a record without fields.

    `apart` names the attributes that are not. `make` returns an object for `read`, and `complete` derives attributes from those read.
    """

    def __init__(
        self,
        kind: type[T],
        fields: Mapping[str, Form],
        *,
        apart: Iterable[str] = (),
        make: Callable[[], T] | None = None,
        prepare: Callable[[T], None] | None = None,
        complete: Callable[[T], None] | None = None,
    ) -> None:
        super().__init__(self._write, self._read)
        self.kind = kind
        self.fields = dict(fields)
        self.apart = frozenset(apart)
        self._make = make or (lambda: kind.__new__(kind))
        self._prepare, self._complete = prepare, complete
        self._names = list(fields)
        self._values = attrgetter(*fields) if len(fields) > 1 else lambda value: [getattr(value, name) for name in self._names]
        self._written = [(name, form.write) for name, form in fields.items() if form is not PLAIN]

    def _write(self, value: T) -> dict[str, Plain]:
        """Returns the state of an object."""
        if self._prepare is not None:
            self._prepare(value)
        plain = dict(zip(self._names, self._values(value), strict=True))
        for name, write in self._written:
            plain[name] = write(plain[name])
        return plain

    def _read(self, plain: Mapping[str, Plain], shift_ms: int) -> T:
        """Returns a new object with this state."""
        value = self._make()
        self.fill(value, plain, shift_ms)
        return value

    def fill(self, value: T, plain: Mapping[str, Plain], shift_ms: int) -> None:
        """Replaces the state of an object. Attributes whose form is `Within` are filled in turn, because others refer to the same object.

        Raises KeyError or ValueError if the attributes in `plain` are not those of the class.
        """
        if len(plain) != len(self._names):
            raise ValueError(f"{self.kind.__name__} has the attributes {self._names}, not {list(plain)}")
        for name, form in self.fields.items():
            if isinstance(form, Within):
                form.record.fill(getattr(value, name), plain[name], shift_ms)
            else:
                setattr(value, name, form.read(plain[name], shift_ms))
        if self._complete is not None:
            self._complete(value)


class Within(Form):
    """The form of an attribute whose object stays and is filled, because other objects refer to it."""

    def __init__(self, record: Record[Any]) -> None:
        super().__init__(record.write, record.read)
        self.record = record
