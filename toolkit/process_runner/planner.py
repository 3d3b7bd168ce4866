"""Looking whether an instance can run, and which of its steps have to; changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.actions.model import TIMED_OUT, Problem, TargetPlan
from toolkit.availability import DATA_ERRORS
from toolkit.errors import InvalidInput
from toolkit.ledger.trigger_causes import event_properties
from toolkit.process_runner.jobs import attempt_chain, causes_of
from toolkit.process_runner.output_batches import cleared_items, published_items
from toolkit.process_runner.prepare import prepared_items
from toolkit.process_runner.resolution import MissingInput, resolve_instance
from toolkit.process_runner.targets import END, ProcessDetail, ProcessPlan, ProcessTarget, StepItem, items_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from toolkit.availability import DataAccess, FeedInstances
    from toolkit.clock import Clock
    from toolkit.el import Availability
    from toolkit.entities import Feed
    from toolkit.ledger.database import Ledger
    from toolkit.process_runner.resolution import ResolvedInstance

MISSING_INPUTS, INVALID, REPLACED = "missing_inputs", "invalid", "replaced"
"""Codes of instances that do not run, and why."""

_NAMED = 3


def blank_plan(target: ProcessTarget) -> ProcessPlan:
    """The plan of an instance that is not looked at."""
    return TargetPlan(target=target, detail=ProcessDetail())


@dataclass(frozen=True, kw_only=True)
class ProcessPlanner:
    """Plans instances.

    Attributes:
        data: where instances are looked at.
        ledger: tells of earlier attempts; None: a dry run does without.
        clock: tells whether an instance was waited for too long.
    """

    data: DataAccess
    ledger: Ledger | None
    clock: Clock

    def plan(self, target: ProcessTarget) -> ProcessPlan:
        """The plan of one instance; what keeps it from being looked at is a failure of its plan."""
        blank = blank_plan(target)
        try:
            resolved = self._resolved(target)
        except DATA_ERRORS as error:
            return replace(blank, failed=Problem(code=error.code, message=str(error)))
        except InvalidInput as error:
            return replace(blank, failed=Problem(code=INVALID, message=str(error)))
        looked = replace(blank, detail=ProcessDetail(resolved=resolved))
        if resolved.missing:
            return self._waiting(looked, resolved)
        if target.replaced_by:
            message = f"it could run, and so could {target.replaced_by}, which is newer (order: LAST_ONLY)"
            return replace(looked, skipped=Problem(code=REPLACED, message=message))
        return self._planned(looked, resolved)

    def _resolved(self, target: ProcessTarget) -> ResolvedInstance:
        looked: dict[str, FeedInstances] = {}

        def instances(feed: Feed) -> FeedInstances:
            if feed.name not in looked:
                looked[feed.name] = self.data.instances_of(feed, target.site.cluster)
            return looked[feed.name]

        def available(feed: Feed) -> Availability:
            return instances(feed).counted()

        def state(feed: Feed, instant: datetime) -> str:
            return instances(feed).look(instant).state

        found = resolve_instance(target.site, target.nominal_time, available, state, is_off_grid=target.is_off_grid)
        return replace(found, properties=self._with_events(target, found.properties))

    def _with_events(self, target: ProcessTarget, properties: Mapping[str, str]) -> Mapping[str, str]:
        """Add the events that caused the run; while inputs are missing, nothing has properties."""
        if target.site.process.trigger is None or not properties:
            return properties
        return dict(sorted({**properties, **event_properties(causes_of(self.ledger, target.ref))}.items()))

    def _waiting(self, looked: ProcessPlan, resolved: ResolvedInstance) -> ProcessPlan:
        what = _text(resolved.missing)
        if self.clock.now() < looked.target.waits_until:
            return replace(looked, waiting=Problem(code=MISSING_INPUTS, message=what))
        message = f"the timeout is over, and {what}; run it with --time when they have come"
        return replace(looked, failed=Problem(code=TIMED_OUT, message=message))

    def _planned(self, looked: ProcessPlan, resolved: ResolvedInstance) -> ProcessPlan:
        target = looked.target
        steps = items_of(target)
        chain = attempt_chain(self.ledger, target.ref, is_forced=target.is_forced)
        due = tuple(each for each in steps if chain.due is None or each.name in chain.due)
        end = StepItem(name=END, engine=None, path="", instance_key=target.instance_key, kind=END)
        notes = [f"the optional input {name} is missing, and left out" for name in resolved.left_out]
        resumed = len(due) < len(steps)
        if resumed:
            where = f"goes on at {due[0].name}" if due else "only its end was missing"
            notes.append(f"an earlier attempt had come so far: {where}; --force starts over")
        if chain.starts_over:
            notes.append("an earlier attempt was to start over, and came to nothing: this one starts over")
        detail = ProcessDetail(
            resolved=resolved,
            resumed=resumed,
            made=chain.made,
            attempts=chain.attempts,
            starts_over=chain.starts_over,
            may_hide=chain.has_begun and (target.retries > 0 or not target.is_forced),
        )
        outputs = resolved.outputs
        before = () if resumed else (*prepared_items(target, outputs), *cleared_items(target, outputs))
        items = (*before, *(due or (end,)), *published_items(target, outputs))
        return replace(looked, items=items, detail=detail, notes=tuple(notes))


def _text(missing: tuple[MissingInput, ...]) -> str:
    """Return the missing inputs in words, so that an operator can look for them."""
    named = [
        f"{each.input}: {each.feed} {each.instance_key} is {each.state} ({each.uri})"
        if each.instance_key
        else f"{each.input}: {each.reason}"
        for each in missing[:_NAMED]
    ]
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    return f"inputs are not there: {'; '.join(named)}{more}"
