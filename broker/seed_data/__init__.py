"""Topics and records in files of JSON Lines or CSV, with which a cluster starts, and to which `odradek dump` writes."""
