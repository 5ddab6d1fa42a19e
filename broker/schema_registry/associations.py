"""Associations of subjects with topics, which the newest clients ask for before they name a subject by their own strategy.

An association belongs to a resource, which is a topic, and says which subject has the schema of its keys or values. A WEAK one is a note; a
STRONG one makes the subject belong to the topic. `AssociationsResource` of Confluent's registry is the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from uuid import UUID

from .body_members import flag_of, text_of
from .errors import RegistryError
from .records import Json, StoredSchema, association_record
from .schema_topic import SchemaTopic
from .subjects import is_valid_subject, normal_name

TOPIC = "topic"
TYPES = ("key", "value")
STRONG, WEAK = "STRONG", "WEAK"
MAX_ASSOCIATIONS = 100
"""The most associations in one request."""


def _invalid(name: str, detail: str) -> RegistryError:
    return RegistryError(42212, f"The association specified an invalid value for property: '{name}', detail: {detail}")


class Associations:
    """Reads and changes the associations of a registry. `register` registers the schema that comes with a new association."""

    def __init__(self, topic: SchemaTopic, register: Callable[[str, Json], StoredSchema]) -> None:
        self._topic = topic
        self._register = register

    # Reading

    def select(self, types: Iterable[str], lifecycle: str, resource_type: str, **wanted: str) -> list[Json]:
        """Returns the associations whose members have these values. No types, and an empty lifecycle, stand for all."""
        kinds = set(types)
        return [
            _as_json(each)
            for each in self._topic.index.associations.values()
            if all(each.get(name) == value for name, value in wanted.items())
            and each.get("resourceType") == (resource_type or TOPIC)
            and (not kinds or each.get("associationType") in kinds)
            and lifecycle in ("", each.get("lifecycle"))
        ]

    def check_deletion(self, subject: str) -> None:
        """Raises RegistryError if a subject may not be deleted, because a topic is associated with it."""
        if self._of_subject(normal_name(subject)):
            raise RegistryError(40904, f"An association already exists for subject '{subject}'")

    def _of_subject(self, subject: str) -> list[Json]:
        return [each for each in self._topic.index.associations.values() if each.get("subject") == subject]

    # Changing

    def add(self, body: Json, *, is_new: bool, dry_run: bool) -> Json:
        """Associates subjects with a topic, and returns the associations of the request. Raises RegistryError.

        An `is_new` one must not exist already, unless it is the same; others may change their lifecycle.
        """
        resource = _resource(body, dry_run=dry_run)
        wanted = [self._read_wanted(each, resource, is_new=is_new) for each in _list_of_objects(body)]
        types = [each["associationType"] for each in wanted]
        if len(set(types)) < len(types):
            raise _invalid("associationType", "may only appear once per request")
        present = [self._present(each) for each in wanted]
        changed = [(new, old) for new, old in zip(wanted, present, strict=True) if old is None or not _is_same(new, old)]
        for new, old in changed:
            self._check(new, old, is_new=is_new)
        if dry_run:
            return {**resource, "associations": []}
        return {**resource, "associations": [self._write(new, old) for new, old in changed]}

    def delete(self, resource_id: str, resource_type: str, types: Iterable[str], *, dry_run: bool) -> None:
        """Removes the associations of a topic. Raises RegistryError if there are none."""
        found = self.select(types, "", resource_type, resourceId=resource_id)
        if not found:
            raise RegistryError(40410, f"Association for '{resource_id}' not found.")
        if not dry_run:
            self._topic.write(*(association_record(each, exists=False) for each in found))

    def _read_wanted(self, given: Json, resource: Json, *, is_new: bool) -> Json:
        """Returns an association of a request with its defaults. Raises RegistryError."""
        kind = text_of(given, "associationType") or "value"
        if kind not in TYPES:
            raise _invalid("associationType", "must be either 'key' or 'value'")
        schema, lifecycle = given.get("schema"), text_of(given, "lifecycle")
        if lifecycle not in (None, STRONG, WEAK):
            raise _invalid("lifecycle", "must be STRONG or WEAK")
        if schema is not None and lifecycle == WEAK:
            raise _invalid("lifecycle", "cannot be WEAK when schema is provided")
        if schema is not None and not is_new:
            raise _invalid("schema", "cannot be provided when adding an association to an existing topic")
        lifecycle = lifecycle or (WEAK if schema is None else STRONG)
        own = f":.{resource['resourceNamespace']}:{resource['resourceName']}-{kind}"
        subject = text_of(given, "subject") or own
        if not is_valid_subject(subject):
            raise _invalid("subject", "must be a valid subject")
        if lifecycle == WEAK and subject == own:
            raise _invalid("subject", f"WEAK associations cannot use subject '{own}'")
        frozen = flag_of(given, "frozen")
        if frozen is not None and frozen != (lifecycle == STRONG):
            raise _invalid("frozen", f"association with lifecycle of {lifecycle} cannot be frozen={str(frozen).lower()}")
        named = {"associationType": kind, "subject": normal_name(subject), "lifecycle": lifecycle, "frozen": lifecycle == STRONG}
        return {**resource, **named, "schema": schema}

    def _present(self, wanted: Json) -> Json | None:
        names = ("resourceId", "associationType")
        return next(
            (each for each in self._topic.index.associations.values() if all(each.get(name) == wanted[name] for name in names)), None
        )

    def _check(self, wanted: Json, present: Json | None, *, is_new: bool) -> None:
        """Raises RegistryError for an association that contradicts others."""
        subject, kind = wanted["subject"], wanted["associationType"]
        if present is not None and is_new:
            raise RegistryError(40903, f"An association of type '{kind}' already exists for resource '{wanted['resourceName']}'")
        if present is not None and present["subject"] != subject:
            raise _invalid("subject", f"subject of association cannot be changed from '{present['subject']}' to '{subject}'")
        if present is not None and present.get("frozen"):
            raise RegistryError(40908, f"The association of type  '{kind}' is frozen for subject '{subject}'")
        if wanted["schema"] is None and self._topic.index.latest(subject) is None:
            raise RegistryError(40907, f"No active (non-deleted) version exists for subject '{subject}'")
        others = [each for each in self._of_subject(subject) if each is not present]
        if wanted["lifecycle"] == STRONG and others:
            raise RegistryError(40904, f"An association already exists for subject '{subject}'")
        if any(each.get("lifecycle") == STRONG for each in others):
            raise RegistryError(40905, f"A strong association already exists for subject '{subject}'")

    def _write(self, wanted: Json, present: Json | None) -> Json:
        schema = wanted.pop("schema")
        registered = None if schema is None else self._register(wanted["subject"], schema)
        guid = str(UUID(int=self._topic.random_bits(128))) if present is None else present["guid"]
        self._topic.write(association_record({"guid": guid, **wanted}))
        shown = {name: wanted[name] for name in ("subject", "associationType", "lifecycle", "frozen")}
        return shown if registered is None else shown | {"schema": registered.as_json()}


def _resource(body: Json, *, dry_run: bool) -> Json:
    """Returns the members of a request that name the topic. Raises RegistryError."""
    resource = {name: text_of(body, name) or "" for name in ("resourceName", "resourceNamespace", "resourceId", "resourceType")}
    for name in ("resourceName", "resourceNamespace", *(() if dry_run else ("resourceId",))):
        if not resource[name]:
            raise _invalid(name, "cannot be null or empty")
    resource["resourceType"] = resource["resourceType"] or TOPIC
    if resource["resourceType"] != TOPIC:
        raise _invalid("resourceType", f"must be '{TOPIC}'")
    return resource


def _list_of_objects(body: Json) -> list[Json]:
    given = body.get("associations")
    if not isinstance(given, list) or not given or len(given) > MAX_ASSOCIATIONS or not all(isinstance(each, dict) for each in given):
        raise _invalid("associations", "cannot be null or empty")
    return given


def _is_same(wanted: Json, present: Json) -> bool:
    return wanted["schema"] is None and all(present.get(name) == wanted[name] for name in ("subject", "lifecycle", "frozen"))


def _as_json(stored: Json) -> Json:
    """Returns an association as responses show it."""
    return {name: value for name, value in stored.items() if name != "tenant"}
