"""Maintenance of ingested tables: closing of instances, merging of small files, and removal of what is left over."""
