"""The ingest and compact actions: what a source has now is committed to a feed's table, and its instances are closed."""
