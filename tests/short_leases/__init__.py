"""Leases that are over soon, for tests that wait until a dead run's lease has ended."""

from __future__ import annotations

import os
from pathlib import Path

_STARTUP = Path(__file__).parent / "startup"


def short_leases(seconds: float) -> dict[str, str]:
    """Return the variables of a Python process, in which leases last so long."""
    path = os.pathsep.join(filter(None, [str(_STARTUP), os.environ.get("PYTHONPATH", "")]))
    return {"PYTHONPATH": path, "TEST_LEASE_SECONDS": str(seconds)}
