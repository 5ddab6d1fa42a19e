"""The logger of all modules of groups, under the name that Kafka's group coordinator logs with."""

from __future__ import annotations

import logging

log = logging.getLogger("kafka.coordinator.group.GroupCoordinator")
