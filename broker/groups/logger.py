"""The logger of all modules of groups, which has the name of Kafka's logger for the group coordinator."""

from __future__ import annotations

import logging

log = logging.getLogger("kafka.coordinator.group.GroupCoordinator")
