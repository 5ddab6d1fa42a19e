"""Checks the parameters of a fault and builds its criteria, schedule and acts from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ..faults.acts import Act
from ..faults.delivery import Cut, Delay, Drop, Throttle, Trickle
from ..faults.errors import Error
from ..faults.fault import Fault, Schedule
from ..faults.match import Criteria
from ..faults.table import Faults
from ...protocol.errors import ErrorCode
from ...protocol.messages import APIS
from ...protocol.schema import Message
from .declaration import InvalidControl, unknown

Stage = Literal["before", "after"]
Close = Literal["fin", "rst"]
APIS_BY_NAME = {api.name: api for api in APIS.values()}
