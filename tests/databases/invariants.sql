-- What holds in a ledger at any time, whoever died in the middle of whatever.
-- Each query finds what breaks the rule above it; it runs on both databases.

-- RULE a run that has not begun has no times
SELECT run_id FROM run
WHERE status IN ('waiting', 'ready') AND (started_at IS NOT NULL OR ended_at IS NOT NULL);

-- RULE a running run began and has not ended
SELECT run_id FROM run WHERE status = 'running' AND (started_at IS NULL OR ended_at IS NOT NULL);

-- RULE a run that is over has ended, and no other has
SELECT run_id FROM run
WHERE (status IN ('waiting', 'ready', 'running', 'suspended')) <> (ended_at IS NULL) OR ended_at < started_at;

-- RULE what succeeded or failed had begun
SELECT run_id FROM run WHERE status IN ('succeeded', 'failed') AND started_at IS NULL;

-- RULE only a suspended run remembers where it goes back to
SELECT run_id FROM run WHERE (status = 'suspended') <> (suspended_from IS NOT NULL);

-- RULE attempts are numbered from 1 without gaps
SELECT min(run_id) FROM run
GROUP BY entity, life_cycle, cluster, counterpart, instance_key
HAVING max(attempt) <> count(*) OR min(attempt) <> 1;

-- RULE only the newest attempt is open
SELECT older.run_id FROM run older JOIN run newer USING (entity, life_cycle, cluster, counterpart, instance_key)
WHERE newer.attempt > older.attempt AND older.status IN ('waiting', 'ready', 'running', 'suspended');

-- RULE a key has one active run
SELECT min(run_id) FROM run WHERE status IN ('running', 'suspended')
GROUP BY entity, life_cycle, cluster, counterpart, instance_key HAVING count(*) > 1;

-- RULE a process has one active job on its queue
SELECT process_id FROM run WHERE mode = 'queue' AND status IN ('running', 'suspended')
GROUP BY process_id HAVING count(*) > 1;

-- RULE a job has a process and a mode, and once it has begun a target batch
SELECT run_id FROM run
WHERE (process_id IS NULL) <> (mode IS NULL) OR (mode IS NOT NULL AND started_at IS NOT NULL AND target_batch_id IS NULL);

-- RULE no step runs in a run that is over
SELECT step_run_id FROM step_run JOIN run USING (run_id)
WHERE step_run.status = 'running' AND run.ended_at IS NOT NULL;

-- RULE a step has ended exactly when it does not run
SELECT step_run_id FROM step_run WHERE (status = 'running') <> (ended_at IS NULL);

-- RULE attempts of a step are numbered from 1 without gaps
SELECT min(step_run_id) FROM step_run GROUP BY run_id, step_id HAVING max(attempt) <> count(*) OR min(attempt) <> 1;

-- RULE every step of a job that succeeded has succeeded for its target batch
SELECT run.run_id, step.step_id FROM run JOIN step USING (process_id)
WHERE run.status = 'succeeded' AND NOT step.is_deleted AND NOT EXISTS (
    SELECT 1 FROM step_run JOIN run earlier USING (run_id)
    WHERE step_run.step_id = step.step_id AND step_run.status = 'succeeded'
    AND earlier.target_batch_id = run.target_batch_id
);

-- RULE only active runs hold leases
SELECT run_id FROM lease JOIN run USING (run_id) WHERE run.status NOT IN ('running', 'suspended');

-- RULE who holds a resource alone holds it alone
SELECT resource FROM lease GROUP BY resource
HAVING count(*) > 1 AND max(CASE mode WHEN 'exclusive' THEN 1 ELSE 0 END) = 1;

-- RULE no lease is newer than its resource
SELECT lease.resource FROM lease JOIN resource ON resource.resource = lease.resource WHERE lease.fence > resource.fence;

-- RULE an item is settled exactly when it is no longer intended
SELECT run_id, position FROM item WHERE (state = 'intended') <> (settled_at IS NULL);

-- RULE nobody is asked for anything in a run that is over
SELECT request_id FROM request JOIN run USING (run_id) WHERE honoured_at IS NULL AND run.ended_at IS NOT NULL;

-- RULE a row is new exactly when nobody has taken it
SELECT queue_id FROM queue WHERE (state = 'new') <> (target_batch_id IS NULL);

-- RULE a row is either queued or archived
SELECT queue_id FROM queue JOIN archive USING (queue_id);

-- RULE nobody reads a batch that is not published
WITH known AS (SELECT queue_id, source_batch_id FROM queue UNION ALL SELECT queue_id, source_batch_id FROM archive)
SELECT queue_id FROM known JOIN batch ON batch.batch_id = known.source_batch_id WHERE batch.state = 'allocated';

-- RULE what is being read belongs to an active job
SELECT queue_id FROM queue WHERE state = 'accessed' AND NOT EXISTS (
    SELECT 1 FROM run WHERE run.target_batch_id = queue.target_batch_id AND run.status IN ('running', 'suspended')
);

-- RULE what was taken belongs to a job
SELECT queue_id FROM queue WHERE target_batch_id IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM run WHERE run.target_batch_id = queue.target_batch_id
);

-- RULE what a job that succeeded took is archived, all of it
SELECT queue_id FROM queue JOIN run USING (target_batch_id) WHERE run.status = 'succeeded';

-- RULE only what a job that succeeded processed is archived
SELECT queue_id FROM archive WHERE state <> 'processed' OR NOT EXISTS (
    SELECT 1 FROM run WHERE run.target_batch_id = archive.target_batch_id AND run.status = 'succeeded'
);

-- RULE the seed is there, one counter and one safe mode
SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM batch WHERE batch_id = 0 AND state = 'published')
OR (SELECT count(*) FROM event_counter) <> 1 OR (SELECT count(*) FROM safe_mode) <> 1;

-- RULE a batch has the time of its publication exactly when it was published
SELECT batch_id FROM batch WHERE (state = 'allocated') <> (published_at IS NULL);

-- RULE the batch of a job is published exactly when the job has succeeded
SELECT batch_id FROM batch WHERE kind = 'run' AND (state = 'allocated') = EXISTS (
    SELECT 1 FROM run WHERE run.target_batch_id = batch.batch_id AND run.status = 'succeeded'
);

-- RULE every target batch exists
SELECT run_id FROM run WHERE target_batch_id IS NOT NULL AND target_batch_id NOT IN (SELECT batch_id FROM batch);

-- RULE events are numbered from 1 without gaps, up to the counter
SELECT last_sequence FROM event_counter
WHERE last_sequence <> (SELECT count(*) FROM event) OR last_sequence <> (SELECT coalesce(max(sequence), 0) FROM event);

-- RULE no consumer is ahead of the events
SELECT consumer FROM consumer_cursor WHERE sequence > (SELECT last_sequence FROM event_counter);
