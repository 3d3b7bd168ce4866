SELECT page, count(*) FROM clicks GROUP BY page;
