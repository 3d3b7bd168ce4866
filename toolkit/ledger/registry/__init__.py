"""Registered processes: steps, properties, servers, and which enqueues which (DESIGN section 6, BDRE)."""
