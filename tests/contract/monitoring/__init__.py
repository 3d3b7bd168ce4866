"""Monitoring on both databases."""
