"""Dates during a run, in the ways in which programs ask for them and use them."""
# Local time is tested, too.
# ruff: noqa: DTZ002, DTZ003, DTZ005, DTZ006, DTZ011

from __future__ import annotations

import asyncio
import copy
import copyreg
import datetime as module
import pickle
import time
from datetime import UTC, date, datetime, timedelta

from odradek import Simulation

from .programs import run

HALF_AN_HOUR = "2026-01-01 00:30:00"
kept_datetime = [datetime]


class Moment(datetime):
    """A class that derives from `datetime` before a run."""


async def _now(sim: Simulation) -> list[object]:
    await asyncio.sleep(1800)
    now, local = datetime.now(UTC), datetime.fromtimestamp(time.time())
    assert type(now) is kept_datetime[0]
    assert [datetime.now(), datetime.today(), module.datetime.now()] == [local] * 3
    assert [date.today(), module.date.today()] == [local.date()] * 2
    assert time.localtime()[:6] == local.timetuple()[:6]
    texts = [str(now)[:19], str(datetime.utcnow())[:19], time.strftime("%H:%M", time.gmtime())]
    return [*texts, time.strftime("%Y"), time.ctime()[-4:] == str(local.year)]


def test_dates_are_those_of_the_run() -> None:
    assert run(_now) == [HALF_AN_HOUR, HALF_AN_HOUR, "00:30", time.strftime("%Y", time.localtime(1_767_225_600 + 1800)), True]


def test_dates_are_those_of_the_machine_after_a_run() -> None:
    run(_now)
    assert [datetime] == kept_datetime
    assert abs(datetime.now() - datetime.fromtimestamp(time.time())) < timedelta(minutes=1)
    assert not {datetime, date} & set(copyreg.dispatch_table)


async def _uses(sim: Simulation) -> bytes:
    class Later(datetime):
        pass

    now = datetime(2026, 1, 2, tzinfo=UTC)
    assert isinstance(now, datetime) and isinstance(now, date) and not isinstance(date.today(), datetime)
    assert isinstance(Moment(2026, 1, 2), datetime) and issubclass(Moment, datetime) and issubclass(datetime, date)
    assert type(Later(2026, 1, 2)) is Later and isinstance(Later(2026, 1, 2), datetime)
    assert not isinstance(now, Later) and issubclass(Later, datetime) and not issubclass(Moment, Later)
    assert datetime.fromisoformat("2026-01-02T00:00:00+00:00") == now == datetime.strptime("2026-01-02 +0000", "%Y-%m-%d %z")
    assert copy.deepcopy(now) == now
    return pickle.dumps([now, now.date()])


def test_dates_work_as_others_do() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    assert pickle.loads(run(_uses)) == [now, now.date()]
