"""Access control: entries (acls) and their evaluation (authorizer)."""
