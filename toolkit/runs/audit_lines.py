"""What the audit file says about a process, its runs, and their items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolkit.ledger.runs.items import Item, NewItem, SettledItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.runs.audit import AuditLine
from toolkit.runs.recorder import RecordedRun


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


def intended_lines(run: RecordedRun, items: Iterable[NewItem]) -> Iterator[AuditLine]:
    """Effects that are about to begin."""
    of_run = _of_run(run)
    return (_item(of_run, item, ItemState.INTENDED) for item in items)


def settled_lines(run: RecordedRun, pairs: Iterable[tuple[NewItem | Item, SettledItem]]) -> Iterator[AuditLine]:
    """What became of effects."""
    of_run = _of_run(run)
    for item, settled in pairs:
        yield {**_item(of_run, item, settled.state), "code": settled.code, "message": settled.message}


def left_over_line(run: RecordedRun, left: Item, settled: SettledItem) -> AuditLine:
    """What a run found about an item of an earlier run, which had died before it could tell."""
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
