INSERT OVERWRITE TABLE web.clicks_by_country PARTITION (ds = '${ds}', region = 'emea')
SELECT country, sum(clicks) AS clicks
FROM parquet.`${collected}`
GROUP BY country;
