"""The requests that Karapace answers in another way, with the reason why the registry does not. Confluent's documentation is the judge."""

from __future__ import annotations

import re

from .comparison import Recorded

DIFFERENCES: dict[str, str] = {
    r"^reading: GET /schemas/ids/\{id\}/subjects": "Confluent's API lists the subjects of an id; Karapace has no such path.",
    r"^reading: GET /schemas/ids/987654/versions": "Confluent's API answers an unknown id with 40403.",
    r"^reading: GET /schemas/types": "The order is that of Confluent's registry; clients take it as a set.",
    r"^deletion: POST": "Karapace gives a schema its former id after a permanent deletion; Confluent's registry generates one.",
    r"^again: GET": "Confluent's registry replaces a deleted version of the same schema by the new one.",
    r"^refs: DELETE /subjects/refs-customer": "References of soft-deleted schemas do not count in Confluent's registry.",
    r"^settings: GET /config": "A subject without versions may be configured, so the error is 40408, and defaultToGlobal applies.",
    r"^settings: PUT /config/settings": "Confluent's registry accepts levels in any case.",
    r"^settings: DELETE /config/settings": "Confluent's registry returns the config that was deleted.",
    r"^settings: GET /mode/settings": "A subject without a mode of its own is answered with 40409 unless defaultToGlobal is set.",
    r"^invalid: POST /subjects/invalid": "The error of an invalid schema is 42201; Karapace fails, or checks the body in another order.",
    r"^invalid: POST /compatibility/.*/latest": "A subject without versions is compatible with every schema in Confluent's registry.",
    r"^invalid: POST /compatibility/.*/zero": "The error of an invalid version is 42202; Karapace fails.",
    r"^invalid: (GET /nothing|PATCH)": "Errors of unknown paths and methods are JSON, as in Confluent's registry.",
    r"^checks: POST": "Confluent's API checks a schema with all versions of a subject; Karapace has no such path.",
    r"^canonical: GET .*-14/": "Confluent's canonical text of a primitive type is its name.",
    r"^canonical: GET .*-17/": "Karapace fails for a union at the top.",
}
"""The reasons by expressions for script and request."""


def reason_for(ours: Recorded) -> str | None:
    """Returns the reason why an answer differs, None if there is none."""
    place = f"{ours.script}: {ours.line}"
    return next((reason for pattern, reason in DIFFERENCES.items() if re.search(pattern, place)), None)
