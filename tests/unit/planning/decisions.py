"""Every candidate decided about, one by one: what the product does on storage."""

from __future__ import annotations

from collections.abc import Iterable

from toolkit.planning.retention import Candidate, EvictionPolicy, Kept, keep_last_from, kept_by


def decided(candidates: Iterable[Candidate], policy: EvictionPolicy) -> tuple[list[Candidate], list[Kept]]:
    """Return what goes, and what stays and why."""
    found = list(candidates)
    kept_from = keep_last_from(found, policy)
    kept = {each: kept_by(policy, each, kept_from) for each in found}
    return [each for each in found if kept[each] is None], [why for each in found if (why := kept[each]) is not None]
