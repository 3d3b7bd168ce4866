"""Runs: their rows, status, attempts, leases, items and requests (DESIGN section 6). Import from the modules."""
