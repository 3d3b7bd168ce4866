"""Retention of table feeds: partitions, and the data that only they have."""
