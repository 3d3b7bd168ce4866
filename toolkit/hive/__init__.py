"""Export, import and replication of Hive tables in Hive's own EXPORT layout (DESIGN section 7, ADR 0048)."""
