"""Codes of what a run did not do, or could not."""

FAILED, HOPELESS, NOT_REACHED, NO_OUTPUT = "step_failed", "step_cannot_succeed", "not_reached", "no_output"
"""Codes of steps: it failed and may yet succeed; not without a change; one before it failed; it made nothing."""
NOTHING_THERE, NOT_REMOVABLE = "nothing_there", "not_removable"
"""Codes of outputs that a run removes before its first step: there was none; more than this output would go."""
