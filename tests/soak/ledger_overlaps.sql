WITH span AS (
    SELECT resource, run_id, mode, fence, began_at,
           CASE WHEN ended_at < expires_at THEN ended_at ELSE expires_at END AS until
    FROM held
)
SELECT a.resource, a.run_id, b.run_id, a.began_at, a.until, b.began_at, b.until
FROM span a JOIN span b ON a.resource = b.resource AND a.run_id < b.run_id
WHERE a.fence = b.fence
   OR ((a.mode = 'exclusive' OR b.mode = 'exclusive') AND a.began_at < b.until AND b.began_at < a.until)
