"""Rules about the inputs of processes, and late data for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from toolkit.el import Expression, Function, parse_expression
from toolkit.entities import Feed, Input, LatePolicy, LateProcess, Order, Process, Repository
from toolkit.linter.durations import longest, shortest
from toolkit.linter.findings import Hit
from toolkit.linter.rule import Check, LintContext


def inputs(repository: Repository) -> Iterator[tuple[Process, str, Input, Feed]]:
    """Each input of each process, with its name and its feed; inputs whose feed cannot be used are left out."""
    for process in repository.processes.values():
        for name, each in process.inputs.items():
            feed = repository.feeds.get(each.feed)
            if feed is not None:
                yield process, name, each, feed


def late_inputs(repository: Repository) -> Iterator[tuple[Process, str, Input, Feed]]:
    """Yield the inputs that are checked for late data."""
    for found in inputs(repository):
        process, name, _, _ = found
        if process.late_process is not None and name in process.late_process.inputs:
            yield found


def optional_table_input(context: LintContext) -> Iterator[Hit]:
    """An optional input is a path feed."""
    for process, name, each, feed in inputs(context.repository):
        if each.optional and feed.is_table:
            yield Hit(
                subject=process.name,
                pointer=("inputs", name, "optional"),
                message=f"the input {name} is optional, but {feed.name} is a table feed; "
                "optional inputs are path feeds only",
                hint="make it compulsory, or read the table in the workflow itself",
                related=(feed.name,),
            )


def only_optional_inputs(context: LintContext) -> Iterator[Hit]:
    """A process with optional inputs has a compulsory one."""
    for process in context.repository.processes.values():
        if process.inputs and all(each.optional for each in process.inputs.values()):
            yield Hit(
                subject=process.name,
                pointer=("inputs",),
                message="all inputs are optional, so an instance runs at its time, with or without any data",
                hint="make one of them compulsory if it should wait",
                on_key=True,
            )


def availability_range(context: LintContext) -> Iterator[Hit]:
    """A range counts available instances at both ends or at neither."""
    for process in context.repository.processes.values():
        for name, each in process.inputs.items():
            start, end = parse_expression(each.start), parse_expression(each.end)
            message = _range_message(start, end)
            if message is not None:
                hint = 'for example start: "latest(-2)", end: "latest(0)" for the three newest'
                yield Hit(subject=process.name, pointer=("inputs", name, "end"), message=message, hint=hint)


def _range_message(start: Expression, end: Expression) -> str | None:
    if not (start.function.needs_availability or end.function.needs_availability):
        return None
    if start.function is end.function:
        return None
    return f"found {start} to {end}, expected latest at both ends of the range, or future, or neither"


def future_limit(context: LintContext) -> Iterator[Hit]:
    """Find latest and future expressions whose instances can never be there."""
    for process, name, each, feed in inputs(context.repository):
        if each.optional:
            continue
        for end, text in (("start", each.start), ("end", each.end)):
            message = _future_message(context.repository, process, feed, text)
            if message is not None:
                hint = "count fewer instances, or look further"
                yield Hit(subject=process.name, pointer=("inputs", name, end), message=message, hint=hint)


def _future_message(repository: Repository, process: Process, feed: Feed, text: str) -> str | None:
    call = parse_expression(text)
    if not call.function.needs_availability:
        return None
    wanted = abs(call.arguments[0]) + 1
    if call.function is Function.FUTURE and wanted > call.arguments[1] + 1:
        within = call.arguments[1] + 1
        return f"{text} needs {wanted} available instances, but looks at {within} only: it waits for ever"
    for cluster in process.clusters:
        if cluster.name in repository.clusters:
            grid = feed.instances_on(cluster.name)
            existing = grid.count(grid.start, feed.cluster(cluster.name).validity.end)
            if wanted > existing:
                return f"{text} needs {wanted} instances, but {feed.name} has {existing} on {cluster.name}"
    return None


def input_partition(context: LintContext) -> Iterator[Hit]:
    """The partition of an input has no more parts than its feed has partitions."""
    for _, process in sorted(context.repository.processes.items()):
        for name, each in process.inputs.items():
            feed = context.repository.feeds.get(each.feed)
            found = _wrong(each, feed) if feed and each.partition else None
            if found is not None:
                message, hint = found
                pointer = ("inputs", name, "partition")
                yield Hit(subject=process.name, pointer=pointer, message=message, hint=hint, related=(each.feed,))


def _wrong(each: Input, feed: Feed) -> tuple[str, str] | None:
    parts = (each.partition or "").split("/")
    if feed.is_table:
        message = f"found the partition {each.partition!r}, and {feed.name} is a table: its partitions are in its URI"
        return message, "remove the partition"
    if not feed.partitions:
        message = f"found the partition {each.partition!r}, and {feed.name} has no partitions"
        return message, f"remove it, or name the sub-directories in partitions of {feed.name}"
    if len(parts) > len(feed.partitions):
        message = (
            f"found {len(parts)} parts in {each.partition!r}, expected at most {len(feed.partitions)}: "
            f"{feed.name} has the partitions {', '.join(feed.partitions)}"
        )
        return message, "leave out the last ones; a partition that is not given means all of it"
    return None


def late_input_without_cut_off(context: LintContext) -> Iterator[Hit]:
    """The feed of a late input has a late cut-off."""
    for process, name, _, feed in late_inputs(context.repository):
        if feed.late_arrival is None:
            yield Hit(
                subject=process.name,
                pointer=("late_process", "inputs", name),
                message=f"the late input {name} reads {feed.name}, which has no late_arrival: no late data is expected",
                hint=f"add late_arrival: {{cut_off: ...}} to {feed.name}, or remove the late input",
                on_key=True,
                related=(feed.name,),
            )


def late_process_without_inputs(context: LintContext) -> Iterator[Hit]:
    """A late process names the inputs that it is about."""
    for process in context.repository.processes.values():
        if process.late_process is not None and not process.late_process.inputs:
            yield Hit(
                subject=process.name,
                pointer=("late_process",),
                message="late_process names no inputs, so late data is never looked for",
                hint="add inputs: {INPUT: workflow}, or remove late_process",
                on_key=True,
            )


def late_delay_without_effect(context: LintContext) -> Iterator[Hit]:
    """The delay of a late process is shorter than the cut-offs."""
    for process in context.repository.processes.values():
        message = (
            None if process.late_process is None else _delay_message(context.repository, process, process.late_process)
        )
        if message is not None:
            hint = "choose a shorter delay, or policy: final without a delay"
            yield Hit(subject=process.name, pointer=("late_process", "delay"), message=message, hint=hint)


def _delay_message(repository: Repository, process: Process, late: LateProcess) -> str | None:
    if late.delay is None:
        return None
    if late.policy is LatePolicy.FINAL:
        return f"the delay {late.delay} has no effect: with the policy final there is one check, at the cut-off"
    used = [repository.feeds.get(each.feed) for name, each in process.inputs.items() if name in late.inputs]
    cut_offs = [feed.late_arrival.cut_off for feed in used if feed is not None and feed.late_arrival is not None]
    cut_off = max(cut_offs, key=longest, default=None)
    if cut_off is None or shortest(late.delay) < longest(cut_off):
        return None
    return f"the first check after {late.delay} is not before the longest cut-off, {cut_off}: it is the only one"


def last_only_parallel(context: LintContext) -> Iterator[Hit]:
    """With LAST_ONLY one instance runs at a time."""
    for process in context.repository.processes.values():
        if process.order is Order.LAST_ONLY and process.parallel > 1:
            yield Hit(
                subject=process.name,
                pointer=("parallel",),
                message=f"parallel: {process.parallel} goes with order: LAST_ONLY, of which only the newest runs",
                hint="use parallel: 1, or the order LIFO if older instances shall run too",
            )


CHECKS: Mapping[str, Check] = {
    "optional-table-input": optional_table_input,
    "only-optional-inputs": only_optional_inputs,
    "availability-range": availability_range,
    "future-limit": future_limit,
    "input-partition": input_partition,
    "late-input-without-cut-off": late_input_without_cut_off,
    "late-process-without-inputs": late_process_without_inputs,
    "late-delay-without-effect": late_delay_without_effect,
    "last-only-parallel": last_only_parallel,
}
