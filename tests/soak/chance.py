"""Random numbers of a soak test, whose seed is printed."""

from __future__ import annotations

import os
import random
import secrets


def seeded() -> random.Random:
    """Return random numbers by FEEDCTL_SEED, or by a new seed, and print how to repeat them."""
    seed = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9))
    print(f"FEEDCTL_SEED={seed}")  # noqa: T201 - how to repeat it
    return random.Random(seed)  # noqa: S311 - moments, not secrets
