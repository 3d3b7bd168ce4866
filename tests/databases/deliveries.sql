-- What holds besides where jobs run on the queue alone, and nothing was registered anew in between.

-- RULE a step has a batch in its queue or archive once
WITH known AS (SELECT step_id, source_batch_id FROM queue UNION ALL SELECT step_id, source_batch_id FROM archive)
SELECT step_id, source_batch_id FROM known WHERE source_batch_id <> 0
GROUP BY step_id, source_batch_id HAVING count(*) > 1;

-- RULE every step has every published batch of its upstreams
WITH known AS (SELECT step_id, source_batch_id FROM queue UNION ALL SELECT step_id, source_batch_id FROM archive)
SELECT upstream.step_id, batch.batch_id FROM batch JOIN upstream USING (process_id)
WHERE batch.state = 'published' AND NOT EXISTS (
    SELECT 1 FROM known WHERE known.step_id = upstream.step_id AND known.source_batch_id = batch.batch_id
);
