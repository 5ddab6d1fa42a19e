"""A dictionary that reverts the changes of a failed step at a cost proportional to the changes.

`savepoint` copies ordinary containers. Copying a dictionary with thousands of entries would cost more than a step that changes one of
them. A `RevertibleDict` instead records the value that each changed key had before. A removed key cannot be put back in its place in the
order of keys, so the first removal in a step copies the dictionary.
"""

from __future__ import annotations

from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")
_ABSENT: Any = object()


class RevertibleDict(dict[K, V]):
    """A dictionary with `begin`, `commit` and `revert`. Only the methods that are overridden here may be used to change it."""

    __slots__ = ("_replaced", "_snapshot")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._replaced: dict[K, Any] | None = None
        """Key -> value before the step, for keys changed before the first removal; None outside of a step."""
        self._snapshot: dict[K, V] | None = None
        """A copy from immediately before the first removal of the step."""

    def begin(self) -> None:
        """Starts to record changes. Steps must not be nested."""
        self._replaced = {}

    def commit(self) -> None:
        """Ends the step and keeps its changes."""
        self._replaced = self._snapshot = None

    def revert(self) -> None:
        """Ends the step and reverts its changes, including the order of keys."""
        replaced, snapshot = self._replaced or {}, self._snapshot
        self.commit()
        if snapshot is not None:
            super().clear()
            super().update(snapshot)
        for key, value in replaced.items():
            if value is _ABSENT:
                super().__delitem__(key)
            else:
                super().__setitem__(key, value)

    def __setitem__(self, key: K, value: V) -> None:
        if self._replaced is not None and self._snapshot is None:
            self._replaced.setdefault(key, self.get(key, _ABSENT))
        super().__setitem__(key, value)

    def __delitem__(self, key: K) -> None:
        self._copy_before_removal(key)
        super().__delitem__(key)

    def pop(self, key: K, *default: Any) -> Any:
        self._copy_before_removal(key)
        return super().pop(key, *default)

    def _copy_before_removal(self, key: K) -> None:
        if self._replaced is not None and self._snapshot is None and key in self:
            self._snapshot = dict(self)
