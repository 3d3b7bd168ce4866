"""The ingest and compact actions: a source's records are committed to a feed's table, and its instances are closed."""
