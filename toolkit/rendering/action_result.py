"""The result of any action: as JSON, as JSON lines, and as text for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import groupby
from typing import Generic

from toolkit.actions.model import D, I, ItemResult, Problem, T
from toolkit.actions.result import ActionResult, TargetResult
from toolkit.el import format_instant
from toolkit.printable import on_one_line
from toolkit.rendering.tables import ResultFormat
from toolkit.result import SCHEMA_VERSION, Outcome

Document = dict[str, object]

_Mark = Callable[[str, str], str]
"""Gives a text a style, where the result goes to a terminal."""

MOST_LINES = 20
"""So many lines people read of one target, unless they ask for all."""

_BOLD = "1"
_STYLES = {Outcome.DONE: "32", Outcome.PLANNED: "36", Outcome.SKIPPED: "33", Outcome.FAILED: "1;31"}
"""As a terminal is told: green, cyan, yellow, bold red."""


class Detail(Enum):
    """Level of detail of a result on the terminal."""

    QUIET = auto()
    """Problems only."""
    RANGES = auto()
    """Items that are alike in one line, a few lines a target."""
    VERBOSE = auto()
    """A line for each item."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionView(Generic[T, I, D]):
    """Differences between actions in how a result is shown.

    Attributes:
        targets: their name in JSON, for example ``feeds``.
        target_document: a target in JSON.
        item_document: what names an item in JSON.
        item_text: what names an item in a line.
        items_text: what many such items are called, for example ``instances``.
        target_rule: by which rule a target was looked at, behind its counts; empty: nothing to say.
        target_lines: what else is to be said of a target, one line each.
    """

    targets: str
    target_document: Callable[[TargetResult[T, I, D]], Document]
    item_document: Callable[[I], Document]
    item_text: Callable[[I], str]
    items_text: Callable[[I], str]
    target_rule: Callable[[TargetResult[T, I, D]], str]
    target_lines: Callable[[TargetResult[T, I, D]], Iterable[str]]


def rendered(
    result: ActionResult[T, I, D],
    view: ActionView[T, I, D],
    form: ResultFormat,
    *,
    detail: Detail = Detail.RANGES,
    on_terminal: bool = False,
) -> Iterator[str]:
    """Yield the output piece by piece: a result may have very many items.

    Args:
        result: of the run.
        view: of the action.
        form: asked for with `--output`.
        detail: of text; the other forms always have everything.
        on_terminal: text gets colours.
    """
    if form is ResultFormat.JSON:
        return _json(result, view)
    if form is ResultFormat.JSONL:
        return _json_lines(result, view)
    return (f"{line}\n" for line in _text(result, view, detail, _coloured if on_terminal else _plain))


def failure_text(action: str, targets: str, error: Exception, *, status: str, exit_code: int) -> str:
    """The JSON document of a run that ended before there was anything to report."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "action": action,
        "status": status,
        "exit_code": exit_code,
        "error": _error(error),
        targets: [],
        "items": [],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


# JSON


def run_document(result: TargetResult[T, I, D]) -> Document | None:
    """The run in the ledger; None: there is none."""
    if result.run is None or result.run.run_id is None:
        return None
    return {"id": result.run.run_id, "attempt": result.run.attempt}


def problem_document(problem: Problem | None) -> Document | None:
    """Why a target was not worked on."""
    return None if problem is None else {"code": problem.code, "message": problem.message}


def counts_document(result: TargetResult[T, I, D]) -> Document:
    """Items by outcome."""
    return {outcome.value: number for outcome, number in result.counts.items()}


def ending_document(result: TargetResult[T, I, D]) -> Document:
    """Return the end of an instance's document, behind the fields of its action."""
    plan = result.plan
    return {
        "notes": list(plan.notes),
        "run": run_document(result),
        "skipped": problem_document(plan.skipped),
        "waiting": problem_document(plan.waiting),
        "failure": problem_document(plan.failed),
    }


def note_lines(result: TargetResult[T, I, D]) -> Iterator[str]:
    """The notes of a target, as `ActionView.target_lines`."""
    return (f"note: {note}" for note in result.plan.notes)


def _json(result: ActionResult[T, I, D], view: ActionView[T, I, D]) -> Iterator[str]:
    """Yield one document, laid out for reading."""
    text = json.dumps(_summary(result, view), indent=2, ensure_ascii=False)
    yield text.removesuffix("\n}") + ',\n  "items": ['
    before = "\n"
    for item in result.items:
        laid_out = json.dumps(_item(item, view), indent=2, ensure_ascii=False).replace("\n", "\n    ")
        yield f"{before}    {laid_out}"
        before = ",\n"
    yield "]\n}\n" if before == "\n" else "\n  ]\n}\n"


def _json_lines(result: ActionResult[T, I, D], view: ActionView[T, I, D]) -> Iterator[str]:
    for item in result.items:
        yield f"{json.dumps(_item(item, view), ensure_ascii=False)}\n"
    yield f"{json.dumps(_summary(result, view), ensure_ascii=False)}\n"


def _summary(result: ActionResult[T, I, D], view: ActionView[T, I, D]) -> Document:
    """Everything about the run but its items."""
    request = result.request
    return {
        "schema_version": SCHEMA_VERSION,
        "action": result.action,
        "nominal_time": format_instant(request.nominal_time),
        "environment": request.environment,
        "dry_run": request.dry_run,
        "status": result.status.value,
        "exit_code": result.exit_code.value,
        "error": _error(result.stopped or result.refusal),
        "snapshot": {
            "kind": request.snapshot.kind.value,
            "id": request.snapshot.value,
            "dirty": request.snapshot.dirty,
        },
        "tzdata": request.tzdata,
        "ledger": request.ledger,
        "notes": list(request.notes),
        "plan_digest": result.digest,
        view.targets: [view.target_document(target) for target in result.targets],
    }


def _item(result: ItemResult[I], view: ActionView[T, I, D]) -> Document:
    return {
        **view.item_document(result.item),
        "outcome": result.outcome.value,
        "code": result.code or None,
        "message": result.message or None,
    }


def _error(error: Exception | None) -> Document | None:
    return None if error is None else {"type": type(error).__name__, "message": str(error)}


# Text


def failure_lines(error: Exception, status: str) -> Iterator[str]:
    """Yield the text of a run that ended before there was anything to report."""
    why = str(error).replace("\n", "\n  ")  # no line of a reason begins like one of ours
    yield f"{status}: {why}\n"
    yield f"status: {status}\n"


def _text(result: ActionResult[T, I, D], view: ActionView[T, I, D], detail: Detail, mark: _Mark) -> Iterator[str]:
    """Why the run was refused or stopped, what ran, each target, the status last."""
    ending = result.stopped or result.refusal
    if detail is Detail.QUIET and result.refusal is not None:
        detail = Detail.RANGES  # what is not well is the plan itself
    targets = [each for each in result.targets if detail is not Detail.QUIET or not each.is_well]
    if detail is Detail.QUIET and ending is None and not targets:
        return
    if ending is not None:
        yield mark(on_one_line(f"{result.status}: {ending}"), _BOLD)
    yield mark(on_one_line(_title(result)), _BOLD)
    for _, group in groupby(targets, key=_what_it_is_about):
        yield from _target(list(group), view, detail, mark)
    yield from (f"note: {on_one_line(note)}" for note in result.request.notes)
    yield mark(_closing_line(result), _BOLD)


def _what_it_is_about(target: TargetResult[T, I, D]) -> tuple[str, str, str]:
    """The instances of a feed may be a target each, and are one to those who read of them."""
    about = target.plan.target
    return about.entity, about.cluster, about.counterpart


def _target(
    group: Sequence[TargetResult[T, I, D]], view: ActionView[T, I, D], detail: Detail, mark: _Mark
) -> Iterator[str]:
    """Its items, then itself."""
    own = [on_one_line(line) for line in _group_lines(group, view)]
    items = [item for target in group for item in target.items]
    if detail is Detail.VERBOSE:
        yield from (_item_line(item, view, mark) for item in items)
        yield from own
        return
    if len(own) > MOST_LINES // 2:
        left_out = len(own) - MOST_LINES // 2 + 1
        own[-left_out:] = [f"  ... {left_out:,} more lines; all of them: --verbose"]
    yield from _grouped_items(items, group[0].plan.label, view, mark, room=MOST_LINES - len(own))
    yield from own


def _grouped_items(
    items: Sequence[ItemResult[I]], label: str, view: ActionView[T, I, D], mark: _Mark, room: int
) -> Iterator[str]:
    """A line for those that are alike, and one for each that failed, which come first."""
    groups: dict[tuple[str, ...], list[ItemResult[I]]] = {}
    for each in items:
        single = each.item.uri if each.outcome is Outcome.FAILED else ""
        groups.setdefault((each.outcome, view.items_text(each.item), each.code, each.message, single), []).append(each)
    in_order = sorted(groups.values(), key=lambda group: group[0].outcome is not Outcome.FAILED)
    shown = in_order if len(in_order) <= room else in_order[: room - 1]
    for group in shown:
        yield _item_line(group[0], view, mark) if len(group) == 1 else _group_line(group, label, view, mark)
    left_out = sum(map(len, in_order[len(shown) :]))
    if left_out:
        yield on_one_line(f"... {left_out:,} more items of {label}; all of them: --verbose or --output jsonl")


def _group_line(group: Sequence[ItemResult[I]], label: str, view: ActionView[T, I, D], mark: _Mark) -> str:
    """For example ``done    clicks on primary: 456 instances, 2026-02-18T12:00Z to 2026-03-10T11:00Z``."""
    first, keys = group[0], [each.item.instance_key for each in group if each.item.instance_key]
    times = f", {min(keys)} to {max(keys)}" if keys else ""
    return _outcome_line(first, f"{label}: {len(group):,} {view.items_text(first.item)}{times}", mark)


def _item_line(result: ItemResult[I], view: ActionView[T, I, D], mark: _Mark) -> str:
    return _outcome_line(result, view.item_text(result.item), mark)


def _outcome_line(result: ItemResult[I], what: str, mark: _Mark) -> str:
    why = " ".join(part for part in (result.code, result.message) if part)
    line = on_one_line(f"{what}  ({why})" if why else what)
    return mark(f"{result.outcome:<8}", _STYLES[result.outcome]) + line


def _title(result: ActionResult[T, I, D]) -> str:
    """Return the title: the action, its time, and the state of the config repo."""
    request = result.request
    snapshot = f"{request.snapshot.kind} {request.snapshot.value}{' (dirty)' if request.snapshot.dirty else ''}"
    dry = ", dry run: nothing is touched" if request.dry_run else ""
    return f"{result.action} at {format_instant(request.nominal_time)}{dry}; config repo: {snapshot}"


def _group_lines(group: Sequence[TargetResult[T, I, D]], view: ActionView[T, I, D]) -> Iterator[str]:
    """A target; or those of one feed, with what is to be said of single instances."""
    if len(group) == 1:
        yield from _target_lines(group[0], view)
        return
    counts = Counter(
        _line_of(each, " and ".join(what for what, number in each.counts.items() if number)) for each in group
    )
    summary = ", ".join(f"{number:,} {what}" for what, number in counts.items())
    yield f"{group[0].plan.label}: {len(group):,} instances: {summary}{view.target_rule(group[0])}"
    for target in group:
        lines = list(_target_lines(target, view))[1:]
        yield from (f"  {target.plan.target.instance_key}: {line.strip()}" for line in lines)


def _line_of(result: TargetResult[T, I, D], outcomes: str) -> str:
    """Return the outcome of a target, by the outcomes of its items when it was worked on."""
    plan = result.plan
    if plan.skipped is not None or plan.waiting is not None:
        return "skipped" if plan.skipped is not None else "waiting"
    return outcomes or ("failed" if plan.failed is not None else "nothing to do")


def _target_lines(result: TargetResult[T, I, D], view: ActionView[T, I, D]) -> Iterator[str]:
    plan = result.plan
    counted = ", ".join(f"{number} {outcome}" for outcome, number in result.counts.items() if number)
    run = run_document(result)
    recorded = "" if run is None else f"; run {run['id']}, attempt {run['attempt']}"
    yield f"{plan.label}: {_line_of(result, counted)}{view.target_rule(result)}{recorded}"
    for problem in (plan.skipped, plan.waiting, plan.failed, plan.refused):
        if problem is not None:
            yield f"  {problem.code}: {problem.message}"
    yield from (f"  {line}" for line in view.target_lines(result))


def _closing_line(result: ActionResult[T, I, D]) -> str:
    """The status, and the plan by its digest."""
    plan = f"; plan {result.digest}" if result.digest else ""
    return f"status: {result.status}{plan}"


def _coloured(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def _plain(text: str, _: str) -> str:
    return text
