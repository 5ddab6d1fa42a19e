"""A story as text of at most COLUMNS columns, which a report of a failed test contains.

  +9 ms  shop -> node 1    Produce v10 orders-0 acks=all: ✗ NOT_LEADER_OR_FOLLOWER; [fault 1: api=Produce times=1]
+111 ms  shop -> node 1    3 x Produce v10 orders-0 acks=all: orders-0 at offset 0 ... orders-0 at offset 2 (until +130 ms)
+112 ms  reader            2 x connect, ApiVersions, 12 x Heartbeat billing (until +1250 ms)
+200 ms  clock: the time moves forward by 60000 ms
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from ...plurals import counted
from ..exchange import Entry
from ..labels import shorten
from .folding import Fold, fold_steps
from .steps import Names, steps_of

COLUMNS = 118
"""Two less than 120, because reports indent the lines."""
MAX_ENTRIES = 2000
"""The latest entries that are read, because that takes a second for 5,000 of them."""
MAX_LINES = 100
FIRST_LINES = 10
"""The lines that are kept of the beginning of a story that is too long."""
_MAX_ROWS = 3
_MAX_NAME_LENGTH = 24


def as_story(entries: Sequence[Entry], begin_ms: float = 0.0) -> str:
    """Returns the story of some entries. Times count from `begin_ms` by the wall clock, or from the first entry.

    Background is left out first if there are more than MAX_LINES lines, then what is neither at the beginning nor at the end.
    """
    latest = entries[-MAX_ENTRIES:]
    folds = fold_steps(steps_of(latest))
    if not folds:
        return "nothing has happened\n"
    begin_ms = begin_ms or folds[0].first.at_ms
    lines = [_clients(Names(latest))] if Names(latest).software else []
    if left_out := len(entries) - len(latest):
        lines.append(f"... {counted(left_out, 'earlier entry is', 'earlier entries are')} left out")
    width = max(len(_time(fold, begin_ms)) for fold in folds)
    for fold in _most_important(folds):
        lines += [f"... {counted(fold, 'line is', 'lines are')} left out"] if isinstance(fold, int) else _rows(fold, begin_ms, width)
    return "".join(f"{line}\n" for line in lines)


def _clients(names: Names) -> str:
    named = ", ".join(f"{client} is {software}" for client, software in names.software.items())
    return shorten(f"clients: {named}", COLUMNS)


def _most_important(folds: Sequence[Fold]) -> Iterator[Fold | int]:
    """Yields the folds for which there is room, and how many are left out between them."""
    excess = len(folds) - MAX_LINES
    kept: list[Fold] = []
    for fold in folds:
        if excess > 0 and fold.first.is_background:
            excess -= 1
        else:
            kept.append(fold)
    if excess <= 0:
        yield from kept
        return
    yield from kept[:FIRST_LINES]
    yield len(kept) - MAX_LINES
    yield from kept[FIRST_LINES - MAX_LINES :]


def _rows(fold: Fold, begin_ms: float, width: int) -> list[str]:
    """Returns the line of a fold, in several rows if it is too long."""
    head = f"{_time(fold, begin_ms):>{width}}  {_place(fold)}"
    text = _text(fold) + (f" (until {_since(fold.last.at_ms, begin_ms)})" if len(fold.steps) > 1 else "")
    indent = " " * (width + 4)
    return wrap(head + text, COLUMNS, subsequent_indent=indent, max_lines=_MAX_ROWS, placeholder=" …", break_on_hyphens=False)


def _place(fold: Fold) -> str:
    """Returns the client and the node, or only that which all steps of a fold have."""
    client, nodes = shorten(fold.first.client, _MAX_NAME_LENGTH), {step.node for step in fold.steps}
    if not client:
        return f"{fold.first.node} " if fold.first.node else ""
    return f"{client} -> {fold.first.node}  " if len(nodes) == 1 and fold.first.node else f"{client}  "


def _text(fold: Fold) -> str:
    first, count = fold.first, len(fold.steps)
    if first.is_background:
        return ", ".join(_with_counts(Counter(step.text for step in fold.steps)))
    times = f"{count} x " if count > 1 else ""
    more = f" ... {fold.last.result}" if fold.last.result != first.result else ""
    return f"{times}{first.text}{f': {first.result}' if first.result else ''}{more}"


def _with_counts(texts: Counter[str]) -> Iterable[str]:
    return (text if count == 1 else f"{count} x {text}" for text, count in texts.items())


def _time(fold: Fold, begin_ms: float) -> str:
    return _since(fold.first.at_ms, begin_ms)


def _since(at_ms: float, begin_ms: float) -> str:
    elapsed_ms = max(0.0, at_ms - begin_ms)
    return f"{elapsed_ms:+.0f} ms" if elapsed_ms < 10_000 else f"{elapsed_ms / 1000:+.1f} s"
