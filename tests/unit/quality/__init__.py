"""Judging data before it is announced."""
