"""The differences between two JSON Schemas that make them incompatible, and their messages (Confluent's `json.diff.Difference`)."""

from __future__ import annotations

Difference = tuple[str, tuple[str, ...]]
"""The type of a difference, and its path from the compared pair."""

MISSING_KEYWORD = "The keyword at path '{}' in the %s schema is not present in the %s schema"
MORE = "The value at path '{}' in the %s schema is more than its value in the %s schema"
LESS = "The value at path '{}' in the %s schema is less than its value in the %s schema"
CHANGED_VALUE = "The value at path '{}' is different between the %s and %s schema"
FEWER_ELEMENTS = "An array or combined type at path '{}' has fewer elements in the %s schema than the %s schema"
MORE_ELEMENTS = "An array or combined type at path '{}' has more elements in the %s schema than the %s schema"
CHANGED_TYPE = "A type at path '{}' is different between the %s schema and the %s schema"
ADDED_TO_OPEN = "The %s schema has an open content model and has a property or item at path '{}' which is missing in the %s schema"
ADDED_TO_UNOPEN = "The %s schema has an unopen content model and has a required property at path '{}' which is missing in the %s schema"
REMOVED_FROM_CLOSED = "The %s has a closed content model and is missing a property or item present at path '{}' in the %s schema"
REMOVED_NOT_COVERED = (
    "A property or item is missing in the %s schema but present at path '{}' in the %s schema and is not covered by its partially open"
    " content model"
)
ADDED_NOT_COVERED = (
    "The %s schema has a property or item at path '{}' which is missing in the %s schema and is not covered by its partially open content"
    " model"
)

MESSAGES = {
    "SCHEMA_ADDED": "",
    "TYPE_NARROWED": CHANGED_TYPE,
    "TYPE_CHANGED": CHANGED_TYPE,
    "PATTERN_ADDED": MISSING_KEYWORD,
    "PATTERN_CHANGED": CHANGED_VALUE,
    "MULTIPLE_OF_ADDED": MISSING_KEYWORD,
    "MULTIPLE_OF_EXPANDED": MORE,
    "MULTIPLE_OF_CHANGED": CHANGED_VALUE,
    "REQUIRED_ATTRIBUTE_ADDED": MISSING_KEYWORD,
    "DEPENDENCY_ARRAY_ADDED": MISSING_KEYWORD,
    "DEPENDENCY_ARRAY_EXTENDED": MORE_ELEMENTS,
    "DEPENDENCY_ARRAY_CHANGED": CHANGED_VALUE,
    "DEPENDENCY_SCHEMA_ADDED": MISSING_KEYWORD,
    "ADDITIONAL_PROPERTIES_REMOVED": MISSING_KEYWORD,
    "ADDITIONAL_PROPERTIES_NARROWED": FEWER_ELEMENTS,
    "UNEVALUATED_PROPERTIES_REMOVED": MISSING_KEYWORD,
    "UNEVALUATED_PROPERTIES_NARROWED": FEWER_ELEMENTS,
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": ADDED_TO_OPEN,
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL": ADDED_TO_OPEN,
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": ADDED_TO_OPEN,
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": ADDED_TO_UNOPEN,
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": REMOVED_FROM_CLOSED,
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": REMOVED_NOT_COVERED,
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": ADDED_NOT_COVERED,
    "UNIQUE_ITEMS_ADDED": MISSING_KEYWORD,
    "ADDITIONAL_ITEMS_REMOVED": MISSING_KEYWORD,
    "ADDITIONAL_ITEMS_NARROWED": FEWER_ELEMENTS,
    "UNEVALUATED_ITEMS_REMOVED": MISSING_KEYWORD,
    "UNEVALUATED_ITEMS_NARROWED": FEWER_ELEMENTS,
    "ITEM_ADDED_TO_OPEN_CONTENT_MODEL": ADDED_TO_OPEN,
    "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL": REMOVED_FROM_CLOSED,
    "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": REMOVED_NOT_COVERED,
    "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": ADDED_NOT_COVERED,
    "ENUM_ARRAY_NARROWED": FEWER_ELEMENTS,
    "ENUM_ARRAY_CHANGED": CHANGED_TYPE,
    "COMBINED_TYPE_CHANGED": CHANGED_TYPE,
    "PRODUCT_TYPE_EXTENDED": MORE_ELEMENTS,
    "SUM_TYPE_NARROWED": FEWER_ELEMENTS,
    "COMBINED_TYPE_SUBSCHEMAS_CHANGED": CHANGED_TYPE,
    "NOT_TYPE_EXTENDED": MORE_ELEMENTS,
}
"""The messages of differences that are not about limits."""

LOWER_LIMITS = {
    "minLength": "MIN_LENGTH",
    "minimum": "MINIMUM",
    "exclusiveMinimum": "EXCLUSIVE_MINIMUM",
    "minProperties": "MIN_PROPERTIES",
    "minItems": "MIN_ITEMS",
    "minContains": "MIN_CONTAINS",
}
UPPER_LIMITS = {
    "maxLength": "MAX_LENGTH",
    "maximum": "MAXIMUM",
    "exclusiveMaximum": "EXCLUSIVE_MAXIMUM",
    "maxProperties": "MAX_PROPERTIES",
    "maxItems": "MAX_ITEMS",
    "maxContains": "MAX_CONTAINS",
}
for limit in LOWER_LIMITS.values():
    MESSAGES |= {f"{limit}_ADDED": MISSING_KEYWORD, f"{limit}_INCREASED": MORE}
for limit in UPPER_LIMITS.values():
    MESSAGES |= {f"{limit}_ADDED": MISSING_KEYWORD, f"{limit}_DECREASED": LESS}


def describe_difference(difference: Difference) -> str:
    """Returns one line of Confluent's verbose answer, whose quotation marks do not match there either."""
    kind, path = difference
    return f'{{errorType:"{kind}", description:"{MESSAGES[kind].replace("{}", "#/" + "/".join(path))}\'}}'
