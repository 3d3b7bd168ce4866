-- Runs when clicks of an hour came after it had been counted: count that hour again.
INSERT OVERWRITE DIRECTORY '${counts}' USING parquet
SELECT page, count(*) AS clicks
FROM json.`${clicks}`
GROUP BY page
HAVING count(*) >= ${threshold};
