"""Lineage of instances on both databases."""
