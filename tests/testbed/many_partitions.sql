-- The only partition of a table again and again, in the tables of a metastore of Hive 2.3 on PostgreSQL: its keys are
-- `ds` and `region`, ten regions a day from %(first)s on. Adding 20,000 by the metastore itself takes ten minutes.
-- %(count)s of them.
CREATE TEMPORARY TABLE made AS
SELECT number, (date '%(first)s' + number / 10)::text AS ds, 'r' || (number % 10) AS region,
       1000000 + number AS id, "PARTITIONS".*
FROM "PARTITIONS", generate_series(0, %(count)s - 1) AS number;
INSERT INTO "SERDES" ("SERDE_ID", "NAME", "SLIB")
SELECT made.id, "NAME", "SLIB" FROM made JOIN "SDS" USING ("SD_ID") JOIN "SERDES" USING ("SERDE_ID");
INSERT INTO "SERDE_PARAMS" ("SERDE_ID", "PARAM_KEY", "PARAM_VALUE")
SELECT made.id, "PARAM_KEY", "PARAM_VALUE" FROM made JOIN "SDS" USING ("SD_ID") JOIN "SERDE_PARAMS" USING ("SERDE_ID");
INSERT INTO "SDS" ("SD_ID", "CD_ID", "INPUT_FORMAT", "IS_COMPRESSED", "IS_STOREDASSUBDIRECTORIES", "LOCATION",
                   "NUM_BUCKETS", "OUTPUT_FORMAT", "SERDE_ID")
SELECT made.id, "CD_ID", "INPUT_FORMAT", "IS_COMPRESSED", "IS_STOREDASSUBDIRECTORIES",
       regexp_replace("LOCATION", '/ds=[^/]*/region=[^/]*$', '') || '/ds=' || ds || '/region=' || region,
       "NUM_BUCKETS", "OUTPUT_FORMAT", made.id
FROM made JOIN "SDS" USING ("SD_ID");
INSERT INTO "PARTITIONS" ("PART_ID", "CREATE_TIME", "LAST_ACCESS_TIME", "PART_NAME", "SD_ID", "TBL_ID")
SELECT id, "CREATE_TIME", "LAST_ACCESS_TIME", 'ds=' || ds || '/region=' || region, id, "TBL_ID" FROM made;
INSERT INTO "PARTITION_KEY_VALS" ("PART_ID", "PART_KEY_VAL", "INTEGER_IDX")
SELECT id, ds, 0 FROM made UNION ALL SELECT id, region, 1 FROM made;
INSERT INTO "PARTITION_PARAMS" ("PART_ID", "PARAM_KEY", "PARAM_VALUE")
SELECT made.id, "PARAM_KEY", "PARAM_VALUE" FROM made JOIN "PARTITION_PARAMS" USING ("PART_ID");
ANALYZE;
