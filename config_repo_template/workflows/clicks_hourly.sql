-- clicks and counts are the paths of the input and the output of the instance.
INSERT OVERWRITE DIRECTORY '${counts}' USING parquet
SELECT page, count(*) AS clicks
FROM json.`${clicks}`
GROUP BY page
HAVING count(*) >= ${threshold};
