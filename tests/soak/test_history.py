"""Tests of the checker of histories."""

from __future__ import annotations

from typing import Any

import pytest

from tests.soak.history import History, Label, Place, Reading, Writing


def at(offset: int, partition: int = 0) -> Place:
    return Place("t", partition, offset)


def history(
    read: list[tuple[int, int] | None],
    *,
    acknowledged: dict[int, int] | None = None,
    transactions: dict[int, int] | None = None,
    committed: dict[int, bool | None] | None = None,
    reader: list[tuple[int, int] | None] | None = None,
) -> History:
    """Returns the history of a writer and two readers, as pairs of offset and number.

    `read` are the records of a reader of committed records, `reader` those of a reader of all records (by default the same).
    """
    places = {number: at(offset) for number, offset in (acknowledged or {}).items()}
    writing = Writing("w", True, places, transactions or {}, committed or {})
    rows = [[row and (at(row[0]), Label("w", row[1])) for row in each] for each in (reader or read, read)]
    return History([writing], [Reading("everything", rows[0]), Reading("committed", rows[1], only_committed=True)])


def kinds(checked: History) -> set[str]:
    return {text.split(":")[0] if ":" in text else text.split()[1] for text in checked.violations()}


def test_label_is_read_back_from_a_value() -> None:
    assert Label.of(Label("writer", 17).value()) == Label("writer", 17)


def test_history_without_faults_has_no_violation() -> None:
    assert history([(0, 0), (1, 1), (3, 2)], acknowledged={0: 0, 1: 1, 2: 3}).violations() == []


def test_history_with_an_unread_record_reports_it_lost() -> None:
    assert "lost" in kinds(history([(0, 0)], acknowledged={0: 0, 1: 1}))


def test_history_with_a_wrong_offset_reports_misplaced() -> None:
    assert kinds(history([(0, 0)], acknowledged={0: 5})) == {"misplaced"}


def test_history_with_a_record_twice_reports_doubled() -> None:
    assert "doubled" in kinds(history([(0, 0), (1, 0)], acknowledged={0: 0}))


def test_history_with_swapped_records_reports_out_of_order() -> None:
    assert "out of order" in kinds(history([(0, 1), (1, 0)], acknowledged={1: 0, 0: 1}))


def test_history_with_two_records_at_an_offset_reports_them() -> None:
    assert "is" in " ".join(history([(0, 0)], reader=[(0, 1)]).violations())
    assert any("was" in text for text in history([(0, 0)], reader=[(0, 1)]).violations())


def test_history_reports_skips_except_after_assignments() -> None:
    everything: list[tuple[int, int] | None] = [(0, 0), (1, 1), (2, 2)]
    assert "skipped" in kinds(history([(0, 0), (2, 2)], acknowledged={1: 1}, reader=everything))
    assert "skipped" not in kinds(history([(0, 0), None, (2, 2), None, (1, 1)], acknowledged={1: 1}, reader=everything))


def test_history_with_a_reader_going_back_reports_it() -> None:
    assert "went" in kinds(history([(0, 0), (1, 1), (0, 0)]))


@pytest.mark.parametrize(("read", "found"), [([(0, 0), (1, 1)], set()), ([], {"unseen"})])
def test_history_with_an_unread_commit_reports_unseen(read: list[tuple[int, int] | None], found: set[str]) -> None:
    checked = history(read, acknowledged={0: 0, 1: 1}, transactions={0: 0, 1: 0}, committed={0: True}, reader=[(0, 0), (1, 1)])
    checked.readers[1].rows.append((Place("t", 1, 0), Label("w", 2)))
    assert {kind for kind in kinds(checked) if kind != "out of order"} == found


def test_history_with_a_read_abort_reports_it() -> None:
    assert "read" in kinds(history([(0, 0)], transactions={0: 0}, committed={0: False}))
    assert history([], transactions={0: 0}, committed={0: False}, reader=[(0, 0)]).violations() == []


def test_history_with_a_partly_read_transaction_reports_torn() -> None:
    writing: dict[str, Any] = {"acknowledged": {0: 0, 1: 1}, "transactions": {0: 0, 1: 0}, "committed": {0: None}}
    assert history([(0, 0), (1, 1)], **writing).violations() == []
    assert history([], **writing, reader=[(0, 0), (1, 1)]).violations() == []
    assert kinds(history([(0, 0)], **writing, reader=[(0, 0), (1, 1)])) == {"torn"}


def test_history_with_a_record_no_member_read_is_unseen() -> None:
    checked = history([(0, 0), (1, 1)], acknowledged={0: 0, 1: 1})
    checked.groups["g"] = [Reading("one", [(at(0), Label("w", 0))]), Reading("two")]
    assert kinds(checked) == {"unseen"}
    checked.groups["g"][1].rows.append((at(1), Label("w", 1)))
    assert checked.violations() == []
