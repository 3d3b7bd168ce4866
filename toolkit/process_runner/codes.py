"""Codes of what a run did not do, or could not."""

FAILED, HOPELESS, NOT_REACHED, NO_OUTPUT = "step_failed", "step_cannot_succeed", "not_reached", "no_output"
"""Codes of steps: it failed and may yet succeed; not without a change; one before it failed; it made nothing."""
NOTHING_THERE, ALREADY_THERE, NOT_REMOVABLE = "nothing_there", "already_there", "not_removable"
"""Codes of outputs: there is none; it is published, or has its flag, already; more than this output would go."""
