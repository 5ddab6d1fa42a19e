"""The errors of a schema registry: HTTP status, error code and message, as Confluent's registry words them (its class `Errors`)."""

from __future__ import annotations

from ..control_errors import ControlRefused

SCHEMA_NOT_FOUND = 40403
INCOMPATIBLE_SCHEMA = 409  # of all releases so far; master has 40901


class RegistryError(ControlRefused):
    """A request that the registry refuses. `error_code` is that of the response; its first three digits are the HTTP status."""

    def __init__(self, error_code: int, message: str) -> None:
        super().__init__(str(error_code), message)
        self.error_code = error_code
        self.message = message

    @property
    def status(self) -> int:
        """The status of the response. Codes of three digits, such as 404 of an unknown path, are the status itself."""
        return self.error_code if self.error_code < 1000 else self.error_code // 100


def subject_not_found(subject: str) -> RegistryError:
    return RegistryError(40401, f"Subject '{subject}' not found.")


def version_not_found(version: int) -> RegistryError:
    return RegistryError(40402, f"Version {version} not found.")


def schema_not_found(schema_id: int | str | None = None) -> RegistryError:
    return RegistryError(SCHEMA_NOT_FOUND, "Schema not found" if schema_id is None else f"Schema {schema_id} not found")


def subject_soft_deleted(subject: str) -> RegistryError:
    return RegistryError(40404, f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently")


def subject_not_soft_deleted(subject: str) -> RegistryError:
    return RegistryError(40405, f"Subject '{subject}' was not deleted first before being permanently deleted")


def version_soft_deleted(subject: str, version: int) -> RegistryError:
    return RegistryError(40406, f"Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently")


def version_not_soft_deleted(subject: str, version: int) -> RegistryError:
    return RegistryError(40407, f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted")


def no_subject_compatibility(subject: str) -> RegistryError:
    return RegistryError(40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def no_subject_mode(subject: str) -> RegistryError:
    return RegistryError(40409, f"Subject '{subject}' does not have subject-level mode configured")


def incompatible_schema(subject: str, messages: list[str]) -> RegistryError:
    details = f"[{', '.join(messages)}]"  # as Java prints a list
    reason = f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: {details}'
    return RegistryError(INCOMPATIBLE_SCHEMA, reason)


def invalid_schema(message: str) -> RegistryError:
    return RegistryError(42201, message)


def invalid_version(version: str) -> RegistryError:
    allowed = 'Allowed values are between [1, 2^31-1] and the string "latest"'
    return RegistryError(42202, f"The specified version '{version}' is not a valid version id. {allowed}")


def invalid_compatibility() -> RegistryError:
    levels = "none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive"
    return RegistryError(42203, f"Invalid compatibility level. Valid values are {levels}")


def invalid_mode(message: str = "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.") -> RegistryError:
    return RegistryError(42204, message)


def not_permitted(message: str) -> RegistryError:
    return RegistryError(42205, message)


def reference_exists(subject: str, version: int) -> RegistryError:
    key = f"{{magic=1,keytype=SCHEMA,subject={subject},version={version}}}"  # as Java prints the key of the record
    return RegistryError(42206, f"One or more references exist to the schema {key}.")


def invalid_subject(subject: str) -> RegistryError:
    return RegistryError(42208, f"The specified subject '{subject}' is not a valid.")


def schema_too_large() -> RegistryError:
    return RegistryError(42209, "Register operation failed because schema is too large")


def invalid_rule_set(message: str) -> RegistryError:
    return RegistryError(42210, message)


def context_not_empty(context: str) -> RegistryError:
    return RegistryError(42211, f"The specified context '{context}' is not empty.")


def store_error(message: str) -> RegistryError:
    return RegistryError(50001, message)
