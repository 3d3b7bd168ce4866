"""Mirrors: directories that are kept equal to those of other clusters by snapshots (ADR 0103)."""
