"""Export, import and replication of Hive tables in Hive's own EXPORT layout (DESIGN section 7, ADR 0048).

A mode does the work of a plan: `table_export` or `table_import`; a replication is an import from another metastore.
`action` and `batches` connect the modes with the kernel. A table has these views:

- `table_reader`: the definition, the partitions and the files of a table now. `sources` chooses those of an instance.
- `table_definition`: the definition that the copy of a table gets, and the schema diff of two definitions.
- `export_layout`: the files of an export: its directories and manifest.
- `locations`: the directories that partitions of a table use, and those that are feedctl's own.
- `spark_format`: the format and options with which Spark reads the files, for validation.
- `table_diff`: the differences of a table on two clusters, for people.
"""
