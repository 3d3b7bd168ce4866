"""Export, import and replication of Hive tables in Hive's own EXPORT layout (DESIGN section 7). Empty as yet."""
