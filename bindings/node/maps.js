// Generated from the OpenAPI document of odradek by `make docs`. Do not edit.

/** The fields of results that are objects with keys of users, such as the configs of a topic. */
export const MAPS = new Set(["assignment", "attributes", "configs", "headers", "partitions"]);
