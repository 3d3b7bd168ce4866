"""First evictions: with `first_run: plan`, a feed's plan is applied only after a person has approved one.

An approval is kept in a file in the feed's base, beside the data that it is about: whoever can write that file can
delete the data anyway, and a ledger that is lost or forged makes nothing go. The file names what was approved by a
digest of the paths, the limit and what becomes of instances. When one of these changes, the next eviction is a first
one again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.action import ExceededLimit
from toolkit.actions.attempt import FailedAttempt, attempted
from toolkit.errors import Refused
from toolkit.storage import OWN_PREFIX, StorageError

if TYPE_CHECKING:
    from toolkit.actions.action import Applied, Batch, RunContext
    from toolkit.el import CanonicalPath
    from toolkit.retention.plan import FeedPlan, PlanItem
    from toolkit.retention.targets import FeedTarget

_MOST = 4096
_VERSION = 1


class FirstEvictionPlanned(Refused):
    """The first eviction of a feed, or the first one after its paths or limit changed; nothing of it was touched.

    Args:
        target: the feed on its cluster.
        digest: of the plan for it alone, for `--approve`.
    """

    def __init__(self, *, target: FeedTarget, digest: str) -> None:
        self.target, self.digest = target, digest
        alone = f"--feed {target.feed} --cluster {target.cluster} --time {target.instance_key}"
        super().__init__(
            f"no eviction of {target.feed} on {target.cluster} with these paths and this limit was approved, and "
            f"repo.yaml has first_run: plan; nothing of this feed was touched. Look at its plan with {alone} "
            f"--dry-run. If it is right, run once with {alone} --approve {digest}; later runs need no approval"
        )


@dataclass(frozen=True, slots=True)
class FirstEviction(ExceededLimit):
    """An `ExceededLimit`: the eviction has to be approved, whatever goes."""

    target: FeedTarget

    @override
    def refusal(self, digest: str) -> FirstEvictionPlanned:
        return FirstEvictionPlanned(target=self.target, digest=digest)


def is_first(plan: FeedPlan, work: RunContext) -> bool:
    """Return whether a plan removes something, and no eviction of the feed by these paths and limit was approved.

    A file that cannot be read approves nothing.
    """
    base = _base(plan)
    if not plan.items or base is None:
        return False
    path = _file(plan.target, base)
    with suppress(StorageError), work.stores(path).read(path, length=_MOST) as stream:
        return stream.read() != _text(plan.target)
    return True


@dataclass(frozen=True, slots=True)
class ApprovedBatch:
    """First batch of an approved plan; the approval is kept before it begins.

    Attributes:
        batch: what is done.
        keep: keeps the approval.
    """

    batch: Batch[PlanItem]
    keep: Callable[[], FailedAttempt | None]

    @property
    def positions(self) -> range:
        """The positions of its items in the plan."""
        return self.batch.positions

    def apply(self, advance: Callable[[int], None]) -> Applied[PlanItem]:
        """Keep the approval, then do what the batch says; without it the next run asks again."""
        failed = self.keep()
        applied = self.batch.apply(advance)
        if failed is None:
            return applied
        note = f"the approval was not kept, so that the next run asks again: {failed.message}"
        return replace(applied, notes=(*applied.notes, note))


def approving(batch: Batch[PlanItem], plan: FeedPlan, work: RunContext) -> Batch[PlanItem]:
    """Return the first batch of a plan that may be applied, as one that keeps the approval."""
    return ApprovedBatch(batch, partial(_keep, plan, work))


def _keep(plan: FeedPlan, work: RunContext) -> FailedAttempt | None:
    base = _base(plan)
    if base is None:
        return None
    path = _file(plan.target, base)
    kept = attempted(work, partial(work.stores(path).write, path, [_text(plan.target)]), failures=(StorageError,))
    return kept if isinstance(kept, FailedAttempt) else None


def _base(plan: FeedPlan) -> CanonicalPath | None:
    """Return the directory that has the approval: the table's, or the base of the feed's first location."""
    return plan.detail.base or next((each.base for each in plan.target.locations), None)


def _file(target: FeedTarget, base: CanonicalPath) -> CanonicalPath:
    """Return the file of a feed on a cluster; feeds may share a base."""
    name = hashlib.sha256(f"{target.feed}\0{target.cluster}".encode()).hexdigest()[:16]
    return base.child(f"{OWN_PREFIX}-approved-{name}")


def _text(target: FeedTarget) -> bytes:
    """Return the content of the file: what was approved, and for people of which feed."""
    archive = target.archive
    says = {
        "locations": sorted((str(each.type), str(each.base), each.template.text) for each in target.locations),
        "table": "" if target.table is None else str(target.table.uri),
        "limit": str(target.limit),
        "keep_last": target.policy.keep_last,
        "protect": sorted(str((each.feed, each.cluster, each.name, each.max_age)) for each in target.protectors),
        "late_window": str(target.policy.late_window),
        "quarantine": str(target.quarantine),
        "archive": () if archive is None else sorted(str(each.base) for each in archive.locations.values()),
    }
    digest = hashlib.sha256(json.dumps(says, sort_keys=True).encode()).hexdigest()
    content = {"schema_version": _VERSION, "feed": target.feed, "cluster": target.cluster, "approved": digest}
    return f"{json.dumps(content)}\n".encode()
