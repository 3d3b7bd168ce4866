"""How long a store may take (DESIGN section 5)."""

CALL_SECONDS = 30.0
"""So long one call may take before it counts as `Unreachable`; what it was about to do may still happen."""

PATIENCE_SECONDS = 120.0
"""So long a store may go on not answering before a run gives up on it: a NameNode restarts, S3 asks to slow down."""
