"""Runs a process instance: resolve, wait, publish properties, run the steps, retry (DESIGN section 7)."""
