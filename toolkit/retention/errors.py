"""Why a retention run refuses to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.errors import InvalidInput, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolkit.planning.delete_limits import Excess

_NAMED = 10


class TooMuchToDelete(Refused):
    """The plan exceeds a safety limit of `repo.yaml`; nothing was touched.

    Args:
        excess: the limit, its value and what was found.
        digest: of the plan, for `--approve`.
    """

    def __init__(self, *, excess: Excess, digest: str) -> None:
        self.excess, self.digest = excess, digest
        super().__init__(
            f"the plan deletes {excess.found} ({_by_feed(excess.by_feed)}), but {excess.limit} in repo.yaml allows "
            f"{excess.allowed}; nothing was touched. Look at the plan with --dry-run. If it is right, run again with "
            f"--approve {digest} (accepts exactly this plan), or raise {excess.limit}"
        )


class PlanChanged(Refused):
    """Another plan was approved than the one that is due now; nothing was touched.

    Args:
        approved: the digest given with `--approve`.
        found: the digest of the plan as it is now.
    """

    def __init__(self, *, approved: str, found: str) -> None:
        self.approved, self.found = approved, found
        super().__init__(
            f"the plan is {found}, but {approved} was approved; nothing was touched. "
            f"Look at the plan again with --dry-run and approve what it shows"
        )


class NotYetEvictable(InvalidInput):
    """Feeds that ask for more than one thing that does not exist yet.

    Args:
        refusals: one for each of these things.
    """

    def __init__(self, *, refusals: Sequence[InvalidInput]) -> None:
        self.refusals = tuple(refusals)
        super().__init__("\n".join(["these feeds cannot be evicted:", *map(str, refusals)]))


class UndatedData(InvalidInput):
    """A feed with retention whose data has no dates in its path.

    Args:
        feed: name.
        cluster: name.
        template: the location's text.
    """

    def __init__(self, *, feed: str, cluster: str, template: str) -> None:
        self.feed, self.cluster, self.template = feed, cluster, template
        super().__init__(
            f"feed {feed} on {cluster}: data location '{template}' has no date fields, but the feed has retention; "
            f"add ${{YEAR}} and what is below it down to the feed's frequency, or remove the retention"
        )


def _by_feed(evicted: Mapping[str, int]) -> str:
    largest = sorted(evicted.items(), key=lambda each: (-each[1], each[0]))
    named = ", ".join(f"{label}: {number:,}" for label, number in largest[:_NAMED])
    rest = len(largest) - _NAMED
    return f"{named} and {rest} more feeds" if rest > 0 else named
