"""When an instance of a process is checked for late data, and of which inputs (DESIGN section 8, Late checks)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from toolkit.el import OutOfRange, WaitPolicy, late_checks, shift
from toolkit.entities import Feed, LateProcess, Process, Workflow
from toolkit.planning.process_io import PlannedInput, ProcessSite, depends_on_availability


@dataclass(frozen=True, kw_only=True, slots=True)
class LateSchedule:
    """The late checks of one instance of a process.

    Args:
        nominal_time: of the instance, UTC.
        cut_off: late data that comes after it is not looked for; the last check is there.
        late: the policy, and its delay.
        timezone: of the process, where days of the delay are counted.
    """

    nominal_time: datetime
    cut_off: datetime
    late: LateProcess
    timezone: str

    def checks(self) -> Iterator[datetime]:
        """The instants of the checks, rising; none when no late data can come any more at the nominal time."""
        if self.cut_off <= self.nominal_time:
            return iter(())
        policy = WaitPolicy(self.late.policy)
        return late_checks(policy, self.late.delay, self.nominal_time, self.cut_off, self.timezone)

    def due(self, at: datetime, after: datetime | None) -> datetime | None:
        """The check that has to be made: the newest that has come, which does for all that were missed before it.

        Args:
            at: checks up to this instant have come, UTC.
            after: the newest check that was made; None: none was.

        Returns:
            None when none has come since.
        """
        newest = None
        for check in self.checks():
            if check > at:
                break
            newest = check
        return newest if newest is not None and (after is None or newest > after) else None

    def is_last(self, check: datetime) -> bool:
        """Return whether no check follows this one."""
        return check >= self.cut_off


def late_schedule(
    process: Process, feeds: Mapping[str, Feed], nominal_time: datetime, ends: Mapping[str, datetime]
) -> LateSchedule | None:
    """The late checks of an instance; None: its inputs are not checked for late data.

    The cut-off is the latest, over the late inputs, of the end of the input and the cut-off of its feed.

    Args:
        process: whose instance.
        feeds: those of its inputs, by name.
        nominal_time: of the instance, UTC.
        ends: the newest feed instance that each late input means, by the name of the input; an input of which there is
            none is left out.
    """
    if process.late_process is None:
        return None
    found = [_cut_off(feeds[process.inputs[name].feed], end) for name, end in ends.items()]
    cut_offs = [each for each in found if each is not None]
    if not cut_offs:
        return None
    return LateSchedule(
        nominal_time=nominal_time, cut_off=max(cut_offs), late=process.late_process, timezone=process.timezone
    )


def _cut_off(feed: Feed, end: datetime) -> datetime | None:
    if feed.late_arrival is None:
        return None
    try:
        return shift(end, feed.late_arrival.cut_off, 1, feed.timezone)
    except OutOfRange:
        return None


def watched_inputs(site: ProcessSite, nominal_time: datetime, read: Mapping[str, PlannedInput]) -> list[PlannedInput]:
    """The late inputs of an instance, with all instances of which data may still come.

    An optional input is watched as a whole, also where nothing was there when the instance ran: what comes then is late
    data too. What `latest` and `future` have counted stays as it was counted.

    Args:
        site: the process on the cluster.
        nominal_time: of the instance, UTC.
        read: what the instance reads, by the name of the input.

    Raises:
        ElError: an expression that cannot be resolved.
        UnknownName: a feed is not on the cluster.
    """
    late = site.process.late_process
    names = [name for name in site.process.inputs if late is not None and name in late.inputs]
    return [
        read[name] if depends_on_availability(site.process.inputs[name]) else site.input(name, nominal_time)
        for name in names
    ]


def late_workflow(process: Process, changed: frozenset[str]) -> Workflow:
    """Return the workflow for late inputs: their late workflow, or that of the process when they have several.

    A late workflow stands for all steps. It is run as the first step that reads the input would be, by its engine.

    Args:
        process: the process.
        changed: names of its late inputs.
    """
    late, own = process.late_process, process.workflow
    paths = {late.inputs[name] for name in changed if name in late.inputs} if late is not None else set()
    if len(paths) != 1:
        return own
    (path,) = paths
    if not own.steps:
        return replace(own, path=path)
    reading = [step for step in own.steps if step.inputs is None or changed & set(step.inputs)]
    step = (reading or list(own.steps))[0]
    return replace(own, steps=(replace(step, path=path, inputs=None, recoverable=True),))
