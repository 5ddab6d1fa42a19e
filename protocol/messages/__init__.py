"""The messages: one file for each API, holding its request, its response and its `Api`.

`APIS` is the registry: what is served, documented, round-tripped and fuzzed is what stands here.
"""

from __future__ import annotations

from ..schema import Api
from .add_offsets_to_txn import ADD_OFFSETS_TO_TXN
from .add_partitions_to_txn import ADD_PARTITIONS_TO_TXN
from .add_raft_voter import ADD_RAFT_VOTER
from .alter_client_quotas import ALTER_CLIENT_QUOTAS
from .alter_configs import ALTER_CONFIGS
from .alter_partition_reassignments import ALTER_PARTITION_REASSIGNMENTS
from .alter_replica_log_dirs import ALTER_REPLICA_LOG_DIRS
from .alter_user_scram_credentials import ALTER_USER_SCRAM_CREDENTIALS
from .api_versions import API_VERSIONS
from .consumer_group_describe import CONSUMER_GROUP_DESCRIBE
from .consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT
from .create_acls import CREATE_ACLS
from .create_delegation_token import CREATE_DELEGATION_TOKEN
from .create_partitions import CREATE_PARTITIONS
from .create_topics import CREATE_TOPICS
from .delete_acls import DELETE_ACLS
from .delete_groups import DELETE_GROUPS
from .delete_records import DELETE_RECORDS
from .delete_topics import DELETE_TOPICS
from .describe_acls import DESCRIBE_ACLS
from .describe_client_quotas import DESCRIBE_CLIENT_QUOTAS
from .describe_cluster import DESCRIBE_CLUSTER
from .describe_configs import DESCRIBE_CONFIGS
from .describe_delegation_token import DESCRIBE_DELEGATION_TOKEN
from .describe_groups import DESCRIBE_GROUPS
from .describe_log_dirs import DESCRIBE_LOG_DIRS
from .describe_producers import DESCRIBE_PRODUCERS
from .describe_quorum import DESCRIBE_QUORUM
from .describe_topic_partitions import DESCRIBE_TOPIC_PARTITIONS
from .describe_transactions import DESCRIBE_TRANSACTIONS
from .describe_user_scram_credentials import DESCRIBE_USER_SCRAM_CREDENTIALS
from .elect_leaders import ELECT_LEADERS
from .end_txn import END_TXN
from .expire_delegation_token import EXPIRE_DELEGATION_TOKEN
from .fetch import FETCH
from .find_coordinator import FIND_COORDINATOR
from .get_telemetry_subscriptions import GET_TELEMETRY_SUBSCRIPTIONS
from .heartbeat import HEARTBEAT
from .incremental_alter_configs import INCREMENTAL_ALTER_CONFIGS
from .init_producer_id import INIT_PRODUCER_ID
from .join_group import JOIN_GROUP
from .leave_group import LEAVE_GROUP
from .list_config_resources import LIST_CONFIG_RESOURCES
from .list_groups import LIST_GROUPS
from .list_offsets import LIST_OFFSETS
from .list_partition_reassignments import LIST_PARTITION_REASSIGNMENTS
from .list_transactions import LIST_TRANSACTIONS
from .metadata import METADATA
from .offset_commit import OFFSET_COMMIT
from .offset_delete import OFFSET_DELETE
from .offset_fetch import OFFSET_FETCH
from .offset_for_leader_epoch import OFFSET_FOR_LEADER_EPOCH
from .produce import PRODUCE
from .push_telemetry import PUSH_TELEMETRY
from .remove_raft_voter import REMOVE_RAFT_VOTER
from .renew_delegation_token import RENEW_DELEGATION_TOKEN
from .sasl_authenticate import SASL_AUTHENTICATE
from .sasl_handshake import SASL_HANDSHAKE
from .sync_group import SYNC_GROUP
from .txn_offset_commit import TXN_OFFSET_COMMIT
from .unregister_broker import UNREGISTER_BROKER
from .update_features import UPDATE_FEATURES
from .write_txn_markers import WRITE_TXN_MARKERS

APIS: dict[int, Api] = {
    api.key: api
    for api in (
        PRODUCE,
        FETCH,
        LIST_OFFSETS,
        METADATA,
        OFFSET_COMMIT,
        OFFSET_FETCH,
        FIND_COORDINATOR,
        JOIN_GROUP,
        HEARTBEAT,
        LEAVE_GROUP,
        SYNC_GROUP,
        DESCRIBE_GROUPS,
        LIST_GROUPS,
        API_VERSIONS,
        CREATE_TOPICS,
        DELETE_TOPICS,
        DELETE_RECORDS,
        INIT_PRODUCER_ID,
        OFFSET_FOR_LEADER_EPOCH,
        ADD_PARTITIONS_TO_TXN,
        ADD_OFFSETS_TO_TXN,
        END_TXN,
        WRITE_TXN_MARKERS,
        TXN_OFFSET_COMMIT,
        DESCRIBE_CONFIGS,
        ALTER_CONFIGS,
        CREATE_PARTITIONS,
        DELETE_GROUPS,
        INCREMENTAL_ALTER_CONFIGS,
        OFFSET_DELETE,
        DESCRIBE_CLUSTER,
        DESCRIBE_PRODUCERS,
        DESCRIBE_TRANSACTIONS,
        LIST_TRANSACTIONS,
        CONSUMER_GROUP_HEARTBEAT,
        CONSUMER_GROUP_DESCRIBE,
        DESCRIBE_TOPIC_PARTITIONS,
        DESCRIBE_ACLS,
        CREATE_ACLS,
        DELETE_ACLS,
        ALTER_REPLICA_LOG_DIRS,
        DESCRIBE_LOG_DIRS,
        ELECT_LEADERS,
        ALTER_PARTITION_REASSIGNMENTS,
        LIST_PARTITION_REASSIGNMENTS,
        DESCRIBE_CLIENT_QUOTAS,
        DESCRIBE_USER_SCRAM_CREDENTIALS,
        ALTER_USER_SCRAM_CREDENTIALS,
        DESCRIBE_QUORUM,
        LIST_CONFIG_RESOURCES,
        SASL_HANDSHAKE,
        SASL_AUTHENTICATE,
        CREATE_DELEGATION_TOKEN,
        RENEW_DELEGATION_TOKEN,
        EXPIRE_DELEGATION_TOKEN,
        DESCRIBE_DELEGATION_TOKEN,
        ALTER_CLIENT_QUOTAS,
        UPDATE_FEATURES,
        UNREGISTER_BROKER,
        GET_TELEMETRY_SUBSCRIPTIONS,
        PUSH_TELEMETRY,
        ADD_RAFT_VOTER,
        REMOVE_RAFT_VOTER,
    )
}
"""Every API by its key."""
