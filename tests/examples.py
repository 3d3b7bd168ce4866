"""How many examples a property test has: all in `make soak`, half in `make test-extended`, a quarter in `make test`."""

from __future__ import annotations

from hypothesis import settings

_ALL = 100  # of the profile `whole`


def share_of(examples: int) -> int:
    """Return how many of so many examples the profile in use takes, at least 10."""
    return max(10, examples * settings.default.max_examples // _ALL) if settings.default else examples
