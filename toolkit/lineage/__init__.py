"""Lineage: who made what from what, for entities, instances and columns."""
