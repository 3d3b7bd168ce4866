-- What feedctl says of the output by_country: its table, and the values of the partition that this instance makes.
INSERT OVERWRITE TABLE ${falcon_by_country_database}.${falcon_by_country_table}
PARTITION (ds = '${by_country.ds}', region = '${by_country.region}')
SELECT country, sum(clicks) AS clicks
FROM parquet.`${collected}`
GROUP BY country;
