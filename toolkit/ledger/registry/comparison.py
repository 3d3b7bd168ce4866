"""What a registration changes: a pure comparison with what is registered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from toolkit.ledger.registry.registration import ProcessEntry, Registration, Site


@dataclass(frozen=True, kw_only=True, slots=True)
class Registered:
    """A process as it stands in the ledger.

    Attributes:
        process_id: its number, which it keeps for ever.
        is_deleted: it was not in the config repo at the last sync.
        entry: what was registered, with its live steps only.
    """

    process_id: int
    is_deleted: bool
    entry: ProcessEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What has to be written.

    Attributes:
        added: never registered before.
        changed: with the number of the row; also what was gone and is back.
        removed: no longer in the config repo.
        unchanged: registered so already.
    """

    added: tuple[ProcessEntry, ...]
    changed: Mapping[int, ProcessEntry]
    removed: Mapping[int, Site]
    unchanged: tuple[Site, ...]


def compare(registered: Mapping[Site, Registered], registration: Registration) -> Changes:
    """The difference between the ledger and a registration.

    A cluster that the environment may not act on is another sync's affair: what is registered there is not removed.
    """
    wanted = {each.site: each for each in registration.processes}
    known = {site: each for site, each in wanted.items() if site in registered}
    same = {site for site, each in known.items() if _is_same(registered[site], each)}
    return Changes(
        added=tuple(each for site, each in wanted.items() if site not in registered),
        changed={registered[site].process_id: each for site, each in known.items() if site not in same},
        removed={
            each.process_id: site
            for site, each in sorted(registered.items())
            if site not in wanted and not each.is_deleted and site.cluster not in registration.elsewhere
        },
        unchanged=tuple(sorted(same)),
    )


def _is_same(registered: Registered, entry: ProcessEntry) -> bool:
    return not registered.is_deleted and registered.entry == entry
