"""The contract of `toolkit.ingest_job.source.IngestSource`: directories on each store, and standard input."""
