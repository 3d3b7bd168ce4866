"""Falcon XML entities to YAML, with a report of what has no counterpart (DESIGN section 1)."""
