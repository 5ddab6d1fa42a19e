"""The members of a config except for the compatibility level, and the modes."""

from __future__ import annotations

from .body_members import flag_of, text_of
from .data_contracts import metadata_of, rule_set_of
from .records import Json

READWRITE, READONLY, READONLY_OVERRIDE, IMPORT, FORWARD = MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")
FLAGS = ("normalize", "validateFields", "validateNewSchemas", "validateRules")
RULE_SETS = ("defaultRuleSet", "overrideRuleSet")
_READERS = {
    **dict.fromkeys(("alias", "aliasForDeks", "compatibilityPolicy", "compatibilityGroup"), text_of),
    **dict.fromkeys(FLAGS, flag_of),
    **dict.fromkeys(("defaultMetadata", "overrideMetadata"), metadata_of),
    **dict.fromkeys(RULE_SETS, rule_set_of),
}


def config_members(body: Json) -> Json:
    """Returns the known members of a config, None for null. Raises RegistryError for a member of another type."""
    return {name: read(body, name) for name, read in _READERS.items() if name in body}
