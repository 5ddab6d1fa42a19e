"""Mistakes with schemas: changes that the registry refuses, ids that it does not have, records without an id, subjects with other names
than their readers expect, and producers that change a schema by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ...plurals import counted
from ..exchange import Entry, Event, Exchange
from .finding import Finding, evidence, group_by, list_in_words
from .history import ClientHistory, WireHistory
from .schema_use import (
    LATEST,
    READ_ONLY,
    REGISTER,
    SCHEMA,
    SCHEMA_NOT_FOUND,
    SUBJECT_NOT_FOUND,
    SchemaUse,
    client_of,
    subject_of,
)

CONFLICT, OK = 409, 200


def incompatible_schemas(history: WireHistory) -> Iterable[Finding]:
    """Finds clients that want to register schemas which the compatibility level of their subject forbids."""
    refused = [event for event in history.schemas.requests_to(REGISTER, "POST") if event.fields["status"] == CONFLICT]
    for (client, subject), events in _by_client(refused).items():
        problem = f"{counted(len(events), 'registration')} in the subject {subject} failed: {events[-1].fields.get('message', '')}"
        advice = (
            "keep what the earlier versions need, such as a default for each field that is added or removed, or give the new schema a "
            "subject of its own; `odradek schemas check` tells before a deployment"
        )
        settings = ("schema.compatibility.level", "auto.register.schemas")
        yield Finding("an incompatible schema", client, problem, advice, settings, evidence(events))


def unknown_schema_ids(history: WireHistory) -> Iterable[Finding]:
    """Finds clients that ask the registry for ids which it does not have, and producers whose records are refused for such an id."""
    use = history.schemas
    missing = [event for event in use.requests_to(SCHEMA, "GET") if event.fields.get("error_code") == SCHEMA_NOT_FOUND]
    advice = (
        "let all clients of the topic use the same schema registry; a client keeps the ids that it has seen, so that it has to be created "
        "anew after a registry was emptied"
    )
    settings = ("schema.registry.url",)
    for client, events in group_by(missing, client_of).items():
        ids = sorted({_schema_id(event) for event in events})
        entries: list[Entry] = list(events)
        problem = f"the schema registry has no schema with the id {list_in_words(ids)}, for which {counted(len(events), 'request')} asked"
        writers = [each for each in use.written_ids if each.schema_id in ids]
        if writers:
            problem += f"; {writers[-1].client} has written records with it to {writers[-1].topic}"
            entries.append(writers[-1].exchange)
        yield Finding("an unknown schema id", client, problem, advice, settings, evidence(entries))
    for refusal in _refusals(history, "which the schema registry does not have"):
        yield Finding("an unknown schema id", str(refusal.client), refusal.problem, advice, settings, evidence(refusal.exchanges))


def records_without_ids(history: WireHistory) -> Iterable[Finding]:
    """Finds producers that write data without a schema id to a topic for which schemas are registered."""
    use = history.schemas
    advice = (
        "write to the topic with the serializer of the schema registry only, because its deserializers fail at other data: they expect the "
        "byte 0 and the id of a schema at the beginning"
    )
    settings = ("value.serializer", "key.serializer", "confluent.value.schema.validation")
    bare = [each for each in use.written_ids if each.schema_id is None and each.subject in use.known_subjects] if use.known_subjects else []
    for (client, topic, part), found in group_by(bare, lambda each: (each.client, each.topic, each.part)).items():
        count = counted(len(found), "record")
        problem = f"the {part} of {count} for {topic} has no schema id, although schemas are registered in the subject {topic}-{part}"
        entries = evidence(each.exchange for each in found)
        yield Finding("records without a schema id", str(client), problem, advice, settings, entries)
    for refusal in _refusals(history, "does not begin with the byte 0"):
        yield Finding("records without a schema id", str(refusal.client), refusal.problem, advice, settings, evidence(refusal.exchanges))


_STRATEGY = "a subject name strategy that does not fit"
_STRATEGY_ADVICE = "use the same subject name strategy in all clients of a topic, and in the topic's setting if records are validated"
_STRATEGY_SETTINGS = ("value.subject.name.strategy", "key.subject.name.strategy", "confluent.value.subject.name.strategy")


def unfit_subject_names(history: WireHistory) -> Iterable[Finding]:
    """Finds clients that look for the schemas of a topic in another subject than those that register them."""
    use = history.schemas
    for problem, client, entries in (*_writers_of_other_subjects(use), *_readers_of_other_subjects(use)):
        yield Finding(_STRATEGY, client, problem, _STRATEGY_ADVICE, _STRATEGY_SETTINGS, evidence(entries))
    for refusal in _refusals(history, "which is not registered for"):
        yield Finding(_STRATEGY, str(refusal.client), refusal.problem, _STRATEGY_ADVICE, _STRATEGY_SETTINGS, evidence(refusal.exchanges))


def _writers_of_other_subjects(use: SchemaUse) -> Iterator[tuple[str, str, list[Entry]]]:
    """Yields the producers whose schemas are not in the subject of the topic, for which others have asked."""
    asked = group_by([event for event in use.requests if event.fields["method"] != "DELETE"], subject_of)
    written = [each for each in use.written_ids if each.subject in asked] if use.subjects else []
    other = [each for each in written if each.subject not in use.subjects.get(each.schema_id or 0, {each.subject})]
    for (client, topic, part), found in group_by(other, lambda each: (each.client, each.topic, each.part)).items():
        subjects = list_in_words(sorted(set().union(*(use.subjects[each.schema_id or 0] for each in found))))
        problem = (
            f"the {part} of {counted(len(found), 'record')} for {topic} has a schema of the subject {subjects}, but a client uses the "
            f"subject {topic}-{part}, which does not have it"
        )
        yield problem, str(client), [*asked[f"{topic}-{part}"], *(each.exchange for each in found)]


def _readers_of_other_subjects(use: SchemaUse) -> Iterator[tuple[str, str, list[Entry]]]:
    """Yields the clients that have asked in vain for a subject while the topic has one by another strategy."""
    missing = [event for event in use.requests if event.fields.get("error_code") == SUBJECT_NOT_FOUND]
    missing = [event for event in missing if subject_of(event) not in use.known_subjects]
    for (client, subject), events in _by_client(missing).items():
        others = sorted(each for each in use.known_subjects if _is_same_topic(subject, each))
        if others:
            asked = f"the schema registry has no subject {subject}, for which {counted(len(events), 'request')} asked"
            problem = f"{asked}; it has {list_in_words(others)}"
            yield problem, client, list(events)


def _is_same_topic(first: str, second: str) -> bool:
    """Returns whether one of two subjects has the name of a topic and the other one that of the topic and a record."""
    for named, other in ((first, second), (second, first)):
        topic, _, part = named.rpartition("-")
        if topic and part in ("key", "value") and other.startswith(f"{topic}-") and not other.endswith(("-key", "-value")):
            return True
    return False


def automatic_registrations(history: WireHistory) -> Iterable[Finding]:
    """Finds producers that register schemas by themselves although the registry is read-only, or although others use the latest version."""
    use = history.schemas
    registrations = use.requests_to(REGISTER, "POST")
    refused = [event for event in registrations if event.fields.get("error_code") == READ_ONLY]
    advice = (
        "register schemas when a program is deployed, for example by `odradek schemas register`, and let the serializers of producers "
        "register none"
    )
    settings = ("auto.register.schemas", "use.latest.version", "mode")
    for (client, subject), events in _by_client(refused).items():
        problem = f"{counted(len(events), 'registration')} in the subject {subject} failed, because the registry does not allow them"
        yield Finding("automatic registration of schemas", client, problem, advice, settings, evidence(events))
    for (client, subject), events in _by_client(_changes_by_producers(use, registrations)).items():
        readers = [event for event in use.requests_to(LATEST, "GET") if event.fields["status"] == OK and subject_of(event) == subject]
        if readers:
            versions = list_in_words(sorted({int(event.fields["version"]) for event in events}))
            problem = (
                f"a producer has registered version {versions} of {subject} and written records with it, but others use the latest version "
                f"of the subject ({counted(len(readers), 'request')}), which has changed for them"
            )
            yield Finding("automatic registration of schemas", client, problem, advice, settings, evidence([*events, *readers]))


def _changes_by_producers(use: SchemaUse, registrations: Sequence[Event]) -> list[Event]:
    """Returns the registrations of a further version whose id was next written into a record, before a client had asked for it."""
    found = []
    for event in registrations:
        if event.fields["status"] != OK or int(event.fields.get("version", 1)) < 2:
            continue
        is_same = [each for each in use.requests if each.sequence > event.sequence and each.fields.get("id") == event.fields["id"]]
        next_request = min((each.sequence for each in is_same), default=float("inf"))
        writes = (each.exchange.sequence for each in use.written_ids if each.schema_id == event.fields["id"])
        if any(event.sequence < sequence < next_request for sequence in writes):
            found.append(event)
    return found


class Refusal(NamedTuple):
    """The Produce requests of a client that a topic with `confluent.value.schema.validation` has refused for one reason."""

    client: ClientHistory
    problem: str
    exchanges: list[Exchange]


def _refusals(history: WireHistory, reason: str) -> Iterator[Refusal]:
    """Yields the refused requests whose error message contains a text."""
    for client in history.clients:
        found = [
            (exchange, message)
            for exchange, errors in client.failures
            if exchange.api == "Produce" and "INVALID_RECORD" in errors
            for message in _messages(exchange)
            if reason in message
        ]
        if found:
            exchanges = [exchange for exchange, _ in found]
            topics = ", ".join(dict.fromkeys(topic for exchange in exchanges for topic in exchange.topics))
            yield Refusal(client, f"{counted(len(found), 'record')} for {topics} failed with INVALID_RECORD: {found[-1][1]}", exchanges)


def _messages(exchange: Exchange) -> Iterator[str]:
    """Yields what the response says about single records."""
    response: Any = exchange.partial_response
    for topic in getattr(response, "responses", ()):
        for partition in topic.partition_responses:
            yield from (error.batch_index_error_message or "" for error in partition.record_errors)


def _schema_id(event: Event) -> int:
    match = SCHEMA.fullmatch(str(event.fields["path"]))
    return int(match[1]) if match is not None else 0


def _by_client(events: Iterable[Event]) -> dict[tuple[str, str], list[Event]]:
    """Returns requests to the registry by client and subject."""
    return group_by(events, lambda event: (client_of(event), subject_of(event)))
