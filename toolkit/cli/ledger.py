"""`feedctl ledger`: the database of runs, batches and events."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from toolkit.cli.flags import AnswerFlags, RepoFlags, flat
from toolkit.cli.options import OutputFormat, print_answer, print_json
from toolkit.cli.run_options import answering

app = typer.Typer(no_args_is_help=True)

AllowDirty = Annotated[bool, typer.Option("--allow-dirty", help="Register a checkout with uncommitted changes.")]


@app.callback()
def ledger() -> None:
    """Manage the ledger: the SQL database of runs, leases, batches and events."""


@app.command("sync")
@flat
def sync(*, repo: RepoFlags, allow_dirty: AllowDirty = False) -> None:
    """Register the processes of the config repo: steps, properties, and who enqueues whom. The answer is JSON."""
    with answering():
        from toolkit.bootstrap.registration import sync_ledger
        from toolkit.clock import SystemClock
        from toolkit.rendering.run_metadata import sync_document
        from toolkit.runs.recorder import current_user

        who = current_user()
        report = sync_ledger(repo.request(), who=who, allow_dirty=allow_dirty, clock=SystemClock())
        print_json(sync_document(report))


@app.command("upgrade")
@flat
def upgrade(*, repo: AnswerFlags) -> None:
    """Make the tables of a new ledger, or bring those of an older feedctl up to date; rows are kept."""
    from toolkit.bootstrap.ledger_upgrade import upgrade_ledger

    place, done = upgrade_ledger(repo.request())
    is_changed = done.before != done.after
    change = f"went from {_named(done.before)} to revision {done.after}"
    message = change if is_changed else f"has revision {done.after} already; nothing was changed"
    document = {"place": place, "from": done.before, "to": done.after, "changed": is_changed}
    print_answer(repo.output, document, f"the ledger {place} {message}")


@app.command("status")
@flat
def status(*, repo: AnswerFlags) -> int:
    """Show where the ledger is, its revision, size and rows; exit code 1: this feedctl cannot work with it as it is."""
    from toolkit.bootstrap.ledgers import examine_ledger
    from toolkit.ledger.opening import LedgerState
    from toolkit.rendering.ledger_status import status_document, write_status
    from toolkit.result import ExitCode

    found = examine_ledger(repo.request())
    if repo.output is OutputFormat.JSON:
        print_json(status_document(found))
    else:
        write_status(found, sys.stdout)
    return ExitCode.DONE if found.state in {LedgerState.READY, LedgerState.ABSENT} else ExitCode.FAILED


@app.command("prune")
@flat
def prune_runs(
    *,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="FREQUENCY", help="Only runs that ended longer ago: days(90).")
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed, and remove nothing.")] = False,
    repo: AnswerFlags,
) -> None:
    """Remove old runs that later ones have replaced, with their items, steps and lineage, and none that is needed."""
    from toolkit.clock import SystemClock
    from toolkit.el import Frequency
    from toolkit.el.frequency import shift
    from toolkit.ledger.prune import prune
    from toolkit.runs.recorder import current_user

    before = shift(SystemClock().now(), Frequency.parse(older_than), -1)
    with repo.opened_with_settings(writing=not dry_run) as (ledger_of_repo, _):
        found = prune(ledger_of_repo, before, current_user(), is_dry=dry_run)
    document = {"dry_run": dry_run, "runs": len(found.runs), "rows": found.rows, "kept": found.kept}
    verb = "would be removed" if dry_run else "removed"
    message = f"{len(found.runs)} runs and {found.rows} rows of theirs {verb}"
    kept = f"; {found.kept} old runs stay, since data that is kept came from theirs" if found.kept else ""
    print_answer(repo.output, document, f"{message}{kept}")


def _named(revision: str | None) -> str:
    return "no tables" if revision is None else f"revision {revision}"
