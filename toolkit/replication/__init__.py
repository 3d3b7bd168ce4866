"""Replication: pulls the instances of feeds from other clusters (DESIGN section 7)."""
