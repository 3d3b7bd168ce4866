"""The result of any action: as JSON, as JSON lines, as plain lines, and as a table on a terminal."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from typing import TYPE_CHECKING, Generic

from toolkit.actions.model import D, I, ItemResult, Problem, T
from toolkit.actions.result import ActionResult, TargetResult
from toolkit.el import format_instant
from toolkit.printable import on_one_line
from toolkit.rendering.tables import ResultFormat
from toolkit.result import SCHEMA_VERSION, Outcome

if TYPE_CHECKING:
    from rich.table import Table

Document = dict[str, object]

FIRST_ITEMS, LAST_ITEMS = 200, 20
"""So many items of a result are shown to people; all of them are in JSON lines."""
_STYLES = {Outcome.DONE: "green", Outcome.PLANNED: "cyan", Outcome.SKIPPED: "yellow", Outcome.FAILED: "bold red"}


@dataclass(frozen=True, kw_only=True, slots=True)
class ActionView(Generic[T, I, D]):
    """What is different from action to action in how a result is shown.

    Attributes:
        targets: their name in JSON, for example ``feeds``.
        target_document: a target in JSON.
        item_document: what names an item in JSON.
        item_text: what names an item in a line.
        headings: of the columns of a table that name an item.
        item_cells: what stands in them.
        target_rule: by which rule a target was looked at, behind its counts; empty: nothing to say.
        target_lines: what else is to be said of a target, one line each.
    """

    targets: str
    target_document: Callable[[TargetResult[T, I, D]], Document]
    item_document: Callable[[I], Document]
    item_text: Callable[[I], str]
    headings: tuple[str, ...]
    item_cells: Callable[[I], tuple[str, ...]]
    target_rule: Callable[[TargetResult[T, I, D]], str]
    target_lines: Callable[[TargetResult[T, I, D]], Iterable[str]]


def rendered(
    result: ActionResult[T, I, D], view: ActionView[T, I, D], form: ResultFormat, terminal_width: int | None
) -> Iterator[str]:
    """What to print, piece by piece: a result may have very many items.

    Args:
        result: of the run.
        view: of the action.
        form: asked for with `--output`.
        terminal_width: None when the output does not go to a terminal.
    """
    if form is ResultFormat.JSON:
        return _json(result, view)
    if form is ResultFormat.JSONL:
        return _json_lines(result, view)
    if terminal_width is not None:
        return iter([_terminal_text(result, view, terminal_width)])
    return (f"{line}\n" for line in _plain_lines(result, view))


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


def _json(result: ActionResult[T, I, D], view: ActionView[T, I, D]) -> Iterator[str]:
    """One document, laid out for reading."""
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


def _plain_lines(result: ActionResult[T, I, D], view: ActionView[T, I, D]) -> Iterator[str]:
    """The run, its items, each target, the status last."""
    yield on_one_line(_title(result))
    first, last, left_out = _ends(result)
    yield from (on_one_line(_item_line(item, view)) for item in first)
    if left_out:
        yield _left_out(left_out)
    yield from (on_one_line(_item_line(item, view)) for item in last)
    for target in result.targets:
        yield from map(on_one_line, _target_lines(target, view))
    yield from (f"note: {on_one_line(note)}" for note in result.request.notes)
    yield _closing_line(result)


def _terminal_text(result: ActionResult[T, I, D], view: ActionView[T, I, D], width: int) -> str:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=StringIO(), force_terminal=True, width=width, highlight=False)
    console.print(Text(on_one_line(_title(result)), style="bold"))
    first, last, left_out = _ends(result)
    if first:
        console.print(_table((*first, *last), view))
    if left_out:
        console.print(Text(_left_out(left_out)))
    for target in result.targets:
        for line in _target_lines(target, view):
            console.print(Text(on_one_line(line)))
    for note in result.request.notes:
        console.print(Text(f"note: {on_one_line(note)}"))
    console.print(Text(_closing_line(result), style="bold"))
    written = console.file
    return written.getvalue() if isinstance(written, StringIO) else ""


def _table(items: Iterable[ItemResult[I]], view: ActionView[T, I, D]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("outcome", *view.headings, "why"):
        table.add_column(heading, overflow="fold")
    for each in items:
        texts = (Text(on_one_line(text)) for text in (*view.item_cells(each.item), _why(each)))
        table.add_row(Text(each.outcome, style=_STYLES[each.outcome]), *texts)
    return table


def _ends(result: ActionResult[T, I, D]) -> tuple[Sequence[ItemResult[I]], Sequence[ItemResult[I]], int]:
    """The first items, the last ones, and how many there are between them."""
    items, rest = result.items, 0
    first = list(islice(items, FIRST_ITEMS))
    last: deque[ItemResult[I]] = deque(maxlen=LAST_ITEMS)
    for item in items:
        rest += 1
        last.append(item)
    return first, tuple(last), rest - len(last)


def _left_out(number: int) -> str:
    return f"... {number:,} more items; all of them: --output jsonl"


def _title(result: ActionResult[T, I, D]) -> str:
    """What ran, for which time, from which state of the config repo."""
    request = result.request
    snapshot = f"{request.snapshot.kind} {request.snapshot.value}{' (dirty)' if request.snapshot.dirty else ''}"
    dry = ", dry run: nothing is touched" if request.dry_run else ""
    return f"{result.action} at {format_instant(request.nominal_time)}{dry}; config repo: {snapshot}"


def _target_lines(result: TargetResult[T, I, D], view: ActionView[T, I, D]) -> Iterator[str]:
    plan = result.plan
    counted = ", ".join(f"{number} {outcome}" for outcome, number in result.counts.items() if number)
    nothing = "failed" if plan.failed is not None else "nothing to do"
    done = "skipped" if plan.skipped is not None else "waiting" if plan.waiting is not None else counted or nothing
    run = run_document(result)
    recorded = "" if run is None else f"; run {run['id']}, attempt {run['attempt']}"
    yield f"{plan.label}: {done}{view.target_rule(result)}{recorded}"
    for problem in (plan.skipped, plan.waiting, plan.failed, plan.refused):
        if problem is not None:
            yield f"  {problem.code}: {problem.message}"
    yield from (f"  {line}" for line in view.target_lines(result))


def _closing_line(result: ActionResult[T, I, D]) -> str:
    """The status, and the plan by its digest."""
    plan = f"; plan {result.digest}" if result.digest else ""
    return f"status: {result.status}{plan}"


def _item_line(result: ItemResult[I], view: ActionView[T, I, D]) -> str:
    line, why = f"{result.outcome:<8}{view.item_text(result.item)}", _why(result)
    return f"{line}  ({why})" if why else line


def _why(result: ItemResult[I]) -> str:
    return " ".join(part for part in (result.code, result.message) if part)
