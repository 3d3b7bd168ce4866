"""Safety limit ``max_copy``: the amount that one run of a copying action may copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from typing_extensions import override

from toolkit.actions.action import ExceededLimit
from toolkit.actions.model import D, I, T, TargetPlan
from toolkit.errors import Refused


@dataclass(frozen=True, kw_only=True, slots=True)
class CopyLimits:
    """Limits of one run over all its feeds (``max_copy``).

    Attributes:
        instances: a number of instances.
        bytes: of the files that are copied; None: no such limit.
    """

    instances: int
    bytes: int | None = None

    def exceeded(self, plans: Sequence[TargetPlan[T, I, D]]) -> ExceededCopyLimit | None:
        """The limit that plans exceed together."""
        found = {(plan.target.entity, plan.target.cluster, plan.target.instance_key) for plan in plans if plan.items}
        if len(found) > self.instances:
            return ExceededCopyLimit("instances", f"{len(found)} instances", str(self.instances))
        size = sum(plan.volume.bytes for plan in plans)
        if self.bytes is not None and size > self.bytes:
            return ExceededCopyLimit("bytes", f"{size} bytes", str(self.bytes))
        return None


@dataclass(frozen=True, slots=True)
class ExceededCopyLimit(ExceededLimit):
    """An `ExceededLimit` of ``max_copy``."""

    limit: str
    found: str
    allowed: str

    @override
    def refusal(self, digest: str) -> TooMuchToCopy:
        return TooMuchToCopy(limit=self.limit, found=self.found, allowed=self.allowed, digest=digest)


class TooMuchToCopy(Refused):
    """A plan copies more than ``max_copy`` allows; nothing was touched.

    Args:
        limit: its key in repo.yaml.
        found: what the plan has, in words.
        allowed: the value.
        digest: that would lift it once.
    """

    def __init__(self, *, limit: str, found: str, allowed: str, digest: str) -> None:
        self.limit, self.found, self.allowed, self.digest = limit, found, allowed, digest
        super().__init__(
            f"{found} would be copied, and max_copy.{limit} in repo.yaml allows {allowed}; nothing was touched. "
            f"Look at the plan with --dry-run; to do it once, add --approve {digest}"
        )
