-- Runs when clicks of an hour came after it had been counted: count that hour again.
INSERT OVERWRITE DIRECTORY '${counts}' USING parquet
SELECT page, country, clicks
FROM (
  SELECT page, country, count(*) AS clicks, sum(count(*)) OVER (PARTITION BY page) AS of_page
  FROM (SELECT page, element_at(split(input_file_name(), '/'), -3) AS country FROM json.`${clicks}`)
  GROUP BY page, country
)
WHERE of_page >= ${threshold};
