"""The lines of the audit file: the end of each effect, and before that what may begin (DESIGN section 6).

What was about to be done when a process died is known item by item from the ledger; here it is one line for each batch,
with its range. Without the ledger it is one line for each item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from toolkit.ledger.runs.items import Item, NewItem, SettledItem
from toolkit.ledger.runs.rows import Run
from toolkit.ledger.vocabulary import ItemState
from toolkit.runs.recorder import RecordedRun

AuditLine = Mapping[str, object]
"""Written values by name; a None is left out."""


def process_line(*, action: str, ledger: str | None, who: str) -> AuditLine:
    """The first line of a process: what it is going to do, and where else that is recorded.

    Args:
        action: for example ``retention``.
        ledger: its URL without password; None: the user chose to do without.
        who: the user.
    """
    choice = None if ledger else f"{who} chose to act without the ledger (--no-ledger)"
    return {"what": "process", "state": "begun", "action": action, "ledger": ledger, "no_ledger": choice}


def run_line(run: RecordedRun, state: str, reason: str | None = None) -> AuditLine:
    """A change of a run's state."""
    return {"what": "run", "state": state, **_of_run(run), "instance_key": run.key.instance_key, "reason": reason}


def taken_over_line(run: Run) -> AuditLine:
    """A run that another one has found without an owner."""
    recorded = RecordedRun(key=run.key, run_id=run.run_id, attempt=run.attempt)
    return run_line(recorded, run.status.value, run.reason)


def intended_lines(run: RecordedRun, items: Sequence[NewItem]) -> Iterator[AuditLine]:
    """Effects that may begin from now on: one line for all when the ledger has each of them, else one for each."""
    if not items:
        return
    if run.run_id is not None:
        yield batch_line(run, items, ItemState.INTENDED)
        return
    of_run = _of_run(run)
    yield from (_item(of_run, item, ItemState.INTENDED) for item in items)


def batch_line(run: RecordedRun, items: Sequence[NewItem], state: ItemState, code: str | None = None) -> AuditLine:
    """Return the line of a batch; its items follow each other in the plan, and there is at least one."""
    first, last = items[0], items[-1]
    return {
        "what": "batch",
        **_of_run(run),
        "items": len(items),
        "first": first.position,
        "last": last.position,
        "first_path": first.path,
        "last_path": last.path,
        "state": state,
        "code": code,
    }


def settled_lines(run: RecordedRun, pairs: Iterable[tuple[NewItem | Item, SettledItem]]) -> Iterator[AuditLine]:
    """Yield the outcome of each effect, one line for each."""
    of_run = _of_run(run)
    for item, settled in pairs:
        yield {**_item(of_run, item, settled.state), "code": settled.code, "message": settled.message}


def left_over_line(run: RecordedRun, left: Item, settled: SettledItem) -> AuditLine:
    """Return the line about an unfinished item of an earlier run that died."""
    (line,) = settled_lines(run, [(left, settled)])
    return {**line, "of_run": left.run_id}


def _of_run(run: RecordedRun) -> AuditLine:
    key = run.key
    of_key = {"life_cycle": key.life_cycle.value, "entity": key.entity, "cluster": key.cluster}
    return {"run": run.run_id, "attempt": run.attempt, **of_key, "counterpart": key.counterpart or None}


def _item(of_run: AuditLine, item: NewItem | Item, state: ItemState) -> AuditLine:
    return {
        "what": "item",
        "position": item.position,
        **of_run,
        "kind": item.kind,
        "instance_key": item.instance_key or None,
        "path": item.path,
        "state": state,
    }
