"""Metrics of an installation: their list, their collection, their text, and the servers that they are sent to."""
