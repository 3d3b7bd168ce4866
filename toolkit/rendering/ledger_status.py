"""Output of `feedctl ledger status`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from toolkit.ledger.errors import moment
from toolkit.ledger.opening import BEGIN_ANEW, LedgerExamination, LedgerState, OpenRun
from toolkit.ledger.schema_version import HEAD
from toolkit.rendering.columns import Columns
from toolkit.rendering.tables import write_table

_TODO = {
    LedgerState.READY: "ready",
    LedgerState.ABSENT: "not there yet: the first action that changes something makes it",
    LedgerState.OUTDATED: "must be upgraded: run `feedctl ledger upgrade`",
    LedgerState.UNKNOWN: "made by a newer feedctl, or by another program: use the feedctl that upgraded it",
    LedgerState.UNRELEASED: f"made by a feedctl from before the first release: {BEGIN_ANEW}",
    LedgerState.UNREACHABLE: "cannot be reached",
}


def status_document(found: LedgerExamination) -> dict[str, object]:
    """The JSON form."""
    return {
        "place": found.place,
        "state": found.state.value,
        "reachable": _is_reachable(found),
        "why": found.why,
        "revision": found.revision,
        "head": HEAD,
        "size": found.size,
        "rows": dict(found.rows),
        "oldest_open_run": None if found.oldest_open is None else _RUN.document(found.oldest_open),
    }


def write_status(found: LedgerExamination, stream: TextIO) -> None:
    """The form for people."""
    write_table(("fact", "ledger"), [("place", found.place), *_facts(found)], stream)
    if found.rows:
        stream.write("\n")
        write_table(("table", "rows"), [(name, str(count)) for name, count in found.rows.items()], stream)


def _facts(found: LedgerExamination) -> Iterator[tuple[str, str]]:
    yield "state", _TODO[found.state] + (f": {found.why}" if found.why else "")
    if found.state in {LedgerState.ABSENT, LedgerState.UNREACHABLE}:
        return
    yield "revision", f"{found.revision or 'none'} (this feedctl works with {HEAD})"
    if found.size is not None:
        yield "size", f"{found.size} bytes"
    yield "oldest open run", "none" if found.oldest_open is None else _run_text(found.oldest_open)


def _is_reachable(found: LedgerExamination) -> bool:
    return found.state is not LedgerState.UNREACHABLE


def _run_text(run: OpenRun) -> str:
    what = f"{run.life_cycle} of {run.entity} on {run.cluster} for {run.instance_key}"
    return f"{run.run_id}: {what}, {run.status}, since {moment(run.created_at)}"


_RUN: Columns[OpenRun] = Columns(*("run_id", "life_cycle", "entity", "cluster", "instance_key", "status", "created_at"))
