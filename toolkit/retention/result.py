"""What a retention run returns: typed outcomes, and a status derived from them (DESIGN section 2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from toolkit.result import ExitCode, Outcome, Status, derive_status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from toolkit.config_source import SnapshotId
    from toolkit.errors import Refused
    from toolkit.retention.plan import FeedPlan, PlanItem
    from toolkit.runs.errors import Stopped
    from toolkit.runs.recorder import RecordedRun

ACTION = "retention"
"""The name of this action in results."""


class SkipReason(StrEnum):
    """Why an item of the plan was not done on purpose."""

    ALREADY_GONE = "already_gone"
    """Somebody else removed it since the plan was made."""
    NOT_EMPTY = "not_empty"
    """Something was put into the directory since the plan was made, or it is gone."""
    HELD = "held"
    """A hold file was put into the feed's base since the plan was made."""
    STOPPED = "stopped"
    """The run was told to stop before it came to this item."""
    REFUSED = "refused"
    """A safety limit refused the run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ItemResult:
    """What became of one item.

    Attributes:
        code: stable, for programs: a reason for what was skipped, an error for what failed; else empty.
        message: for people; may be empty.
    """

    item: PlanItem
    outcome: Outcome
    code: str = ""
    message: str = ""

    @classmethod
    def planned(cls, item: PlanItem) -> ItemResult:
        """A dry run saw it."""
        return cls(item=item, outcome=Outcome.PLANNED)

    @classmethod
    def done(cls, item: PlanItem) -> ItemResult:
        """It was removed."""
        return cls(item=item, outcome=Outcome.DONE)

    @classmethod
    def skipped(cls, item: PlanItem, reason: SkipReason) -> ItemResult:
        """It was left on purpose."""
        return cls(item=item, outcome=Outcome.SKIPPED, code=reason)

    @classmethod
    def failed(cls, item: PlanItem, code: str, message: str) -> ItemResult:
        """It should have been removed and was not."""
        return cls(item=item, outcome=Outcome.FAILED, code=code, message=message)


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedResult:
    """What became of one feed: its plan, and its items with their outcomes.

    Attributes:
        run: that was recorded for it; None: there was none, as in a dry run.
        stopped: why its run was ended before its time.
    """

    plan: FeedPlan
    items: tuple[ItemResult, ...]
    run: RecordedRun | None = None
    stopped: Stopped | None = None

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """Items by outcome; every outcome is there."""
        counted = Counter(result.outcome for result in self.items)
        return {outcome: counted[outcome] for outcome in Outcome}

    def outcomes(self) -> Iterator[Outcome]:
        """What counts for the status: the feed as a whole when it failed or nothing was due, else its items.

        Planning is what a dry run does, so that for it a planned item is a done one. A feed that was skipped counts
        for nothing.
        """
        if self.plan.failure is not None or self.stopped is not None:
            yield Outcome.FAILED
        if self.plan.failure is not None or self.plan.skipped is not None:
            return
        worked_on = [result.outcome for result in self.items if result.outcome is not Outcome.SKIPPED]
        for outcome in worked_on or [Outcome.DONE]:
            yield Outcome.DONE if outcome is Outcome.PLANNED else outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class RetentionResult:
    """What a run found and did.

    Attributes:
        snapshot: which state of the config repo was read.
        tzdata: version of the time zone data.
        digest: of the plan.
        refusal: the safety limit that refused the run.
        stopped: who or what ended the run before its time, for all of its feeds that it had started.
        ledger: the URL without password of the ledger that was used; None: none was.
        notes: what the user should know about the run as a whole.
    """

    nominal_time: datetime
    dry_run: bool
    environment: str | None
    snapshot: SnapshotId
    tzdata: str
    digest: str
    feeds: tuple[FeedResult, ...]
    refusal: Refused | None = None
    stopped: Stopped | None = None
    ledger: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def items(self) -> tuple[ItemResult, ...]:
        """All items of all feeds."""
        return tuple(result for feed in self.feeds for result in feed.items)

    @property
    def status(self) -> Status:
        """Derived from what happened, never counted by hand."""
        if self.stopped is not None:
            return self.stopped.status
        if self.refusal is not None:
            return Status.REFUSED
        outcomes = [outcome for feed in self.feeds for outcome in feed.outcomes()]
        is_skipped = self._are_all_skipped and Outcome.FAILED not in outcomes
        return Status.SKIPPED if is_skipped else derive_status(outcomes)

    @property
    def exit_code(self) -> ExitCode:
        """Of the process."""
        return self.status.exit_code if self.stopped is None else self.stopped.exit_code

    @property
    def _are_all_skipped(self) -> bool:
        """Of the feeds that the run could have looked at."""
        skipped = [feed.plan.skipped is not None for feed in self.feeds if feed.plan.target is not None]
        return bool(skipped) and all(skipped)
