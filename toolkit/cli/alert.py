"""`feedctl alert`: what is wrong, who takes care of it, and what is not told for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import ClusterName, print_answer, print_rows
from toolkit.ledger.vocabulary import AlertKind, AlertLevel

if TYPE_CHECKING:
    from toolkit.ledger.alert_rows import Alert
    from toolkit.ledger.database import Ledger

app = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertFlags:
    """Options that choose alerts."""

    entity: Annotated[
        list[str] | None,
        typer.Option("--entity", metavar="NAME", help="Only of this feed, process or dataset; repeatable."),
    ] = None
    cluster: ClusterName = None
    kind: Annotated[
        list[AlertKind] | None, typer.Option("--kind", metavar="KIND", help="Only of this kind; repeatable.")
    ] = None
    level: Annotated[AlertLevel | None, typer.Option("--level", help="Only of this level.")] = None
    closed: Annotated[bool, typer.Option("--all", help="Also alerts that are over, the newest first.")] = False
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="INSTANT", help="Also those that were open at some time since then."),
    ] = None
    end: Annotated[
        str | None, typer.Option("--end", metavar="INSTANT", help="Also those that were opened before then.")
    ] = None
    limit: Annotated[int, typer.Option("--limit", min=1, help="Show at most this many.")] = 1000

    def find(self, ledger: Ledger) -> list[Alert]:
        """Return the alerts; without a range the open ones alone.

        Raises:
            ElError: a text is no instant.
        """
        from toolkit.el import parse_instant
        from toolkit.ledger import alerts

        first = None if self.start is None else parse_instant(self.start)
        until = None if self.end is None else parse_instant(self.end)
        return ledger.read(
            lambda tx: alerts.history(
                tx,
                start=first,
                end=until,
                entities=self.entity or (),
                cluster=self.cluster,
                kinds=self.kind or (),
                level=self.level,
                only_open=not self.closed and first is None and until is None,
                limit=self.limit,
            )
        )


@app.callback()
def alert() -> None:
    """Show alerts, acknowledge them, and keep messages of some back for a while."""


@app.command("list")
@flat
def list_alerts(*, which: AlertFlags, repo: AnswerFlags) -> None:
    """List the alerts that are open, or that were open in a range of time."""
    from toolkit.rendering.alerts import ALERT_COLUMNS, alert_document, alert_rows

    with repo.opened_with_settings(writing=False) as (ledger, _):
        found = which.find(ledger)
    document = {"alerts": [alert_document(each) for each in found]}
    print_rows(repo.output, lambda: document, ALERT_COLUMNS, alert_rows(found), nothing="no alerts")


@app.command("show")
@flat
def show(
    *,
    number: Annotated[int, typer.Argument(metavar="ID", help="The number of the alert.")],
    repo: AnswerFlags,
) -> None:
    """Show all that is known of an alert."""
    from toolkit.ledger import alerts
    from toolkit.rendering.alerts import alert_document, alert_lines

    with repo.opened_with_settings(writing=False) as (ledger, _):
        found = ledger.read(lambda tx: alerts.get(tx, number))
    print_answer(repo.output, {"alert": alert_document(found)}, *alert_lines(found))


@app.command("ack")
@flat
def acknowledge(
    *,
    numbers: Annotated[list[int], typer.Argument(metavar="ID...", help="The numbers of the alerts.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="What is done about it.")],
    repo: AnswerFlags,
) -> None:
    """Take care of alerts: no reminder is sent of them. A message follows when one rises to high, and at its end."""
    from toolkit.management.alerts import acknowledge_alerts
    from toolkit.rendering.alerts import alert_document
    from toolkit.runs.recorder import current_user

    with repo.opened_with_settings(writing=True) as (ledger, _):
        found = acknowledge_alerts(ledger, numbers, current_user(), reason)
    documents = [{"changed": changed, "alert": alert_document(each)} for each, changed in found]
    lines = [f"alert {each.alert_id} {_acknowledged(each, changed=changed)}" for each, changed in found]
    print_answer(repo.output, {"acknowledged": documents}, *lines)


@app.command("silence")
@flat
def silence(
    *,
    match: Annotated[
        list[str],
        typer.Option(
            "--match",
            metavar="NAME=PATTERN",
            help="Which alerts: entity, cluster, instance, kind, owner or tag, with * and ?; several must all fit.",
        ),
    ],
    until: Annotated[
        str,
        typer.Option("--until", metavar="INSTANT|FREQUENCY", help="When it ends; or how long, for example hours(4)."),
    ],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.")],
    repo: AnswerFlags,
) -> None:
    """Send no message of alerts that match, for a while; what is still wrong at its end is told then."""
    from toolkit.ledger.errors import moment
    from toolkit.management.alerts import add_silence, parse_match
    from toolkit.rendering.alerts import silence_document
    from toolkit.runs.recorder import current_user

    matched = parse_match(match)
    with repo.opened_with_settings(writing=True) as (ledger, _):
        made = add_silence(ledger, matched, until, reason, current_user())
    line = f"silence {made.silence_id} until {moment(made.until)}"
    print_answer(repo.output, {"changed": True, "silence": silence_document(made)}, line)


@app.command("silences")
@flat
def list_silences(
    *,
    ended: Annotated[bool, typer.Option("--all", help="Also silences that are over.")] = False,
    repo: AnswerFlags,
) -> None:
    """List the silences that go on."""
    from toolkit.ledger import silences
    from toolkit.rendering.alerts import SILENCE_COLUMNS, silence_document, silence_rows

    with repo.opened_with_settings(writing=False) as (ledger, _):
        found = ledger.read(lambda tx: silences.all_silences(tx) if ended else silences.active(tx, tx.now()))
    document = {"silences": [silence_document(each) for each in found]}
    print_rows(repo.output, lambda: document, SILENCE_COLUMNS, silence_rows(found), nothing="no silences")


@app.command("unsilence")
@flat
def end_silence(
    *,
    number: Annotated[
        int, typer.Argument(metavar="ID", help="The number of the silence, as `feedctl alert silences` shows it.")
    ],
    repo: AnswerFlags,
) -> None:
    """End a silence now."""
    from toolkit.management import alerts
    from toolkit.runs.recorder import current_user

    with repo.opened_with_settings(writing=True) as (ledger, _):
        changed = alerts.end_silence(ledger, number, current_user())
    done = "ended" if changed else "was over before; nothing was changed"
    print_answer(repo.output, {"id": number, "changed": changed}, f"silence {number} {done}")


def _acknowledged(found: Alert, *, changed: bool) -> str:
    if changed:
        return "acknowledged"
    return "is closed" if found.acked_by is None else f"was acknowledged by {found.acked_by} before"
