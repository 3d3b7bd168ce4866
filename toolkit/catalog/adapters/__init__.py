"""A Hive metastore through Java: the only place of the catalog that imports pyspark and its py4j."""
