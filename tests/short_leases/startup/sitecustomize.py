"""Sets the time of leases in a process of a test; Python loads a module of this name when it starts."""

import os

from toolkit.runs import lease

lease.LEASE_SECONDS = float(os.environ["TEST_LEASE_SECONDS"])
