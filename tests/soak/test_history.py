"""The checker of histories finds what it is there for, and nothing in a history that is right."""

from __future__ import annotations

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
    """A writer's numbers at offsets; `reader` is what one reader of all records read, `read` what one of committed records did."""
    told = {number: at(offset) for number, offset in (acknowledged or {}).items()}
    writing = Writing("w", True, told, transactions or {}, committed or {})
    rows = [[row and (at(row[0]), Label("w", row[1])) for row in each] for each in (reader or read, read)]
    return History([writing], [Reading("everything", rows[0]), Reading("committed", rows[1], only_committed=True)])


def kinds(checked: History) -> set[str]:
    return {text.split(":")[0] if ":" in text else text.split()[1] for text in checked.violations()}


def test_label_survives_its_record() -> None:
    assert Label.of(Label("writer", 17).value()) == Label("writer", 17)


def test_a_history_without_fault_has_no_violation() -> None:
    assert history([(0, 0), (1, 1), (3, 2)], acknowledged={0: 0, 1: 1, 2: 3}).violations() == []


def test_an_acknowledged_record_that_is_not_read_is_lost() -> None:
    assert "lost" in kinds(history([(0, 0)], acknowledged={0: 0, 1: 1}))


def test_a_record_at_another_offset_is_misplaced() -> None:
    assert kinds(history([(0, 0)], acknowledged={0: 5})) == {"misplaced"}


def test_a_record_at_two_offsets_is_doubled() -> None:
    assert "doubled" in kinds(history([(0, 0), (1, 0)], acknowledged={0: 0}))


def test_a_record_before_an_earlier_one_is_out_of_order() -> None:
    assert "out of order" in kinds(history([(0, 1), (1, 0)], acknowledged={1: 0, 0: 1}))


def test_two_records_at_one_offset_are_found() -> None:
    assert "is" in " ".join(history([(0, 0)], reader=[(0, 1)]).violations())
    assert any("was" in text for text in history([(0, 0)], reader=[(0, 1)]).violations())


def test_a_skipped_record_is_found_but_not_after_an_assignment() -> None:
    everything: list[tuple[int, int] | None] = [(0, 0), (1, 1), (2, 2)]
    assert "skipped" in kinds(history([(0, 0), (2, 2)], acknowledged={1: 1}, reader=everything))
    assert "skipped" not in kinds(history([(0, 0), None, (2, 2), None, (1, 1)], acknowledged={1: 1}, reader=everything))


def test_a_reader_that_goes_back_is_found() -> None:
    assert "went" in kinds(history([(0, 0), (1, 1), (0, 0)]))


@pytest.mark.parametrize(("read", "found"), [([(0, 0), (1, 1)], set()), ([], {"unseen"})])
def test_a_committed_transaction_must_be_read(read: list[tuple[int, int] | None], found: set[str]) -> None:
    checked = history(read, acknowledged={0: 0, 1: 1}, transactions={0: 0, 1: 0}, committed={0: True}, reader=[(0, 0), (1, 1)])
    checked.readers[1].rows.append((Place("t", 1, 0), Label("w", 2)))
    assert {kind for kind in kinds(checked) if kind != "out of order"} == found


def test_an_aborted_transaction_must_not_be_read() -> None:
    assert "read" in kinds(history([(0, 0)], transactions={0: 0}, committed={0: False}))
    assert history([], transactions={0: 0}, committed={0: False}, reader=[(0, 0)]).violations() == []


def test_a_transaction_of_unknown_end_is_read_as_a_whole_or_not() -> None:
    told = {"acknowledged": {0: 0, 1: 1}, "transactions": {0: 0, 1: 0}, "committed": {0: None}}
    assert history([(0, 0), (1, 1)], **told).violations() == []
    assert history([], **told, reader=[(0, 0), (1, 1)]).violations() == []
    assert kinds(history([(0, 0)], **told, reader=[(0, 0), (1, 1)])) == {"torn"}


def test_a_record_that_no_member_read_is_unseen() -> None:
    checked = history([(0, 0), (1, 1)], acknowledged={0: 0, 1: 1})
    checked.groups["g"] = [Reading("one", [(at(0), Label("w", 0))]), Reading("two")]
    assert kinds(checked) == {"unseen"}
    checked.groups["g"][1].rows.append((at(1), Label("w", 1)))
    assert checked.violations() == []
