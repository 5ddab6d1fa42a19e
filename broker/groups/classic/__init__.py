"""Groups of JoinGroup and SyncGroup (the classic protocol)."""
