from __future__ import annotations

import pytest

from odradek.protocol.schema import ProtocolError
from odradek.protocol.stored.control_records import (
    ControlRecord,
    ControlType,
    EndTransactionMarker,
    LeaderChangeMessage,
    Voter,
    read_control_record,
    write_control_record,
)


def test_control_records_are_read_as_written() -> None:
    record = ControlRecord(ControlType.COMMIT, EndTransactionMarker(coordinator_epoch=3))

    assert read_control_record(*write_control_record(record)) == record


def test_leader_change_has_the_version_of_its_first_field() -> None:
    message = LeaderChangeMessage(
        version=1, leader_id=1, voters=[Voter(voter_id=1, voter_directory_id=bytes(range(16)))], granting_voters=[]
    )

    assert read_control_record(b"\0\0\0\2", message.encode(1)) == ControlRecord(ControlType.LEADER_CHANGE, message)


def test_newer_control_records_are_none() -> None:
    assert read_control_record(b"\0\0\0\x63", b"") is None


@pytest.mark.parametrize(("key", "value"), [(None, b""), (b"\0\0", b""), (b"\0\0\0\1", None), (b"\0\0\0\1", b"\0")])
def test_damaged_control_records_are_refused(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(ProtocolError):
        read_control_record(key, value)
