"""Results as text, JSON and JSON lines; progress."""
