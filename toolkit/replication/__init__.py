"""Replication (DESIGN section 7): pulls the instances that a target lacks; orchestration only. Empty as yet."""
