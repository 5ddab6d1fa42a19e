"""Access control with real principals: users that have authenticated by PLAIN, and entries for their names."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.broker.security.acls import CLUSTER_NAME, Operation, ResourceType
from odradek.broker.settings.types import STANDARD_AUTHORIZER
from odradek.protocol.messages.create_topics import CREATE_TOPICS
from odradek.protocol.messages.describe_acls import DESCRIBE_ACLS
from odradek.protocol.messages.describe_cluster import DESCRIBE_CLUSTER
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID
from odradek.protocol.messages.metadata import METADATA
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH
from odradek.protocol.schema import Api

from ..case import Case, Send, Step, Topic
from ..requests import batch_of, produce, read, request_of
from .acls import ALLOW, DENY, PREFIXED, create, entry
from .sasl import LISTENER, MODULES, login
from .sasl import SETTINGS as SASL_SETTINGS

PASSWORDS = {"alice": "alice-secret", "bob": "bob-secret", "admin": "admin-secret"}
SETTINGS = {
    **SASL_SETTINGS,
    "listener.name.sasl.plain.sasl.jaas.config": f"{MODULES}.plain.PlainLoginModule required "
    + " ".join(f'user_{user}="{password}"' for user, password in PASSWORDS.items())
    + ";",
    "authorizer.class.name": STANDARD_AUTHORIZER,
    "super.users": "User:ANONYMOUS;User:admin",
    "auto.create.topics.enable": "true",
}
TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
READ, WRITE, CREATE, DESCRIBE = Operation.READ, Operation.WRITE, Operation.CREATE, Operation.DESCRIBE
FIRST, SECOND, SECRET = "principals.first", "principals.second", "hidden"
TOPICS = (Topic(FIRST, replicas=((1,),)), Topic(SECOND, replicas=((1,),)), Topic(SECRET, replicas=((1,),)))


def cases() -> Iterator[Case]:
    yield Case("principals.set-up", TOPICS, (_entries(),))
    for user in PASSWORDS:
        for name, step in _requests(user):
            yield Case(f"principals.{user}.{name}", TOPICS, (*login(user, PASSWORDS[user]), step))


def _entries() -> Send:
    return create(
        entry(TOPIC, FIRST, WRITE, user="User:alice"),
        entry(TOPIC, "principals.", READ, pattern=PREFIXED, user="User:bob"),
        entry(TOPIC, SECRET, READ, DENY, user="User:bob"),
        entry(TOPIC, "*", READ, user="User:*"),
        entry(TOPIC, "principals.made.", CREATE, pattern=PREFIXED, user="User:alice"),
        entry(GROUP, "bob-", READ, ALLOW, pattern=PREFIXED, user="User:bob"),
        entry(CLUSTER, CLUSTER_NAME, DESCRIBE, user="User:alice"),
        entry(TOPIC, FIRST, DESCRIBE, user="Group:alice"),
        entry(TOPIC, SECOND, WRITE, user="User:Alice"),
    )


def _requests(user: str) -> Iterator[tuple[str, Step]]:
    def send(api: Api, version: int, fields: dict[str, object]) -> Send:
        return Send(api, version, request_of(api, fields), listener=LISTENER)

    for topic in (FIRST, SECOND, SECRET, "principals.none"):
        yield f"produce.{topic}", produce(topic, batch_of(b"a"))._replace(listener=LISTENER)
        yield f"fetch.{topic}", read(topic)._replace(listener=LISTENER)
        yield f"metadata.{topic}", send(METADATA, 9, {"topics": [{"name": topic}], "include_topic_authorized_operations": True})
    for topic in ("made", "principals.made"):
        fields = {"topics": [{"name": f"{topic}.{user}"}], "allow_auto_topic_creation": True}
        yield f"auto-create.{topic}", send(METADATA, 9, fields)
        created = {"name": f"{topic}.created-{user}", "num_partitions": 1, "replication_factor": 1, "assignments": [], "configs": []}
        yield f"create.{topic}", send(CREATE_TOPICS, 5, {"topics": [created], "timeout_ms": 10_000})
    for group in ("bob-1", "other"):
        yield f"group.{group}", send(OFFSET_FETCH, 7, {"group_id": group, "topics": []})
    yield "cluster", send(DESCRIBE_CLUSTER, 1, {"include_cluster_authorized_operations": True})
    names = dict.fromkeys(("resource_name_filter", "principal_filter", "host_filter"))
    yield (
        "acls",
        send(DESCRIBE_ACLS, 3, {"resource_type_filter": 1, "pattern_type_filter": 1, "operation": 1, "permission_type": 1, **names}),
    )
    yield "producer", send(INIT_PRODUCER_ID, 4, {"transactional_id": None, "transaction_timeout_ms": 1000})
