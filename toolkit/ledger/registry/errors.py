"""Asking for what is not registered."""

from __future__ import annotations

from collections.abc import Collection

from toolkit.entities.nearest import suggestion
from toolkit.errors import InvalidInput
from toolkit.ledger.registry.registration import Site

_SYNC = "`feedctl ledger sync` registers what is in the config repo"


class UnknownProcess(InvalidInput):
    """No such process runs on the cluster: never registered, no longer in the config repo, or a feed.

    Args:
        site: what was asked for.
        found: what is known about it.
        known: the processes that are registered there.
    """

    code = "unknown_process"

    def __init__(self, *, site: Site, found: str, known: Collection[str] = ()) -> None:
        self.process, self.cluster, self.found, self.known = site.name, site.cluster, found, tuple(sorted(known))
        hint = suggestion(site.name, self.known)
        super().__init__(f"process {site} {found}; {hint + '; ' if hint else ''}{_SYNC}")


class UnknownStep(InvalidInput):
    """A process has no such step.

    Args:
        site: the process.
        step: as given.
        known: its steps.
    """

    code = "unknown_step"

    def __init__(self, *, site: Site, step: str, known: Collection[str]) -> None:
        self.process, self.cluster, self.step, self.known = site.name, site.cluster, step, tuple(known)
        hint = suggestion(step, self.known)
        super().__init__(f"process {site} has no step named {step!r}; {hint + '; ' if hint else ''}{_SYNC}")
