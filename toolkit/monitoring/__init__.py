"""Monitoring: expected instances, conditions that raise alerts, and the messages of alerts (issue 32)."""
