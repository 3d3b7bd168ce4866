"""`feedctl sla`: what is expected, what was late, how far each entity is behind, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli.completion import entity_names, feed_names
from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import ClusterName, print_answer, print_rows
from toolkit.ledger.vocabulary import SlaState

app = typer.Typer(no_args_is_help=True)

_AnyEntity = Annotated[
    str | None,
    typer.Argument(
        metavar="ENTITY", autocompletion=entity_names, help="Only of this feed, process or dataset. Default: of all."
    ),
]


@app.callback()
def sla() -> None:
    """Show what is expected by SLAs, what was late and how far entities are behind, and explain why."""


@app.command("status")
@flat
def status(
    *,
    entity: _AnyEntity = None,
    cluster: ClusterName = None,
    state: Annotated[
        list[SlaState] | None, typer.Option("--state", metavar="STATE", help="Only in this state; repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Show at most this many, the oldest.")] = 200,
    repo: AnswerFlags,
) -> None:
    """List the instances that are expected and not there, as the last pass of the monitor decided."""
    from toolkit.ledger import sla as rows
    from toolkit.rendering.sla import STATE_STYLES, STATUS_COLUMNS, status_document, status_rows

    with repo.opened_with_settings(writing=False) as (ledger, _):
        found, looked_at = ledger.read(
            lambda tx: (
                rows.listed(tx, entity=entity, cluster=cluster, states=state or (), limit=limit),
                rows.looked_at(tx),
            )
        )
    nothing = "nothing is expected" if looked_at else "no pass was made yet; `feedctl monitor` makes one"
    document = status_document(found, looked_at)
    print_rows(repo.output, lambda: document, STATUS_COLUMNS, status_rows(found), STATE_STYLES, nothing=nothing)


@app.command("alerts")
@flat
def alerts(
    *,
    start: Annotated[str, typer.Option("--start", metavar="INSTANT", help="The first instance time.")],
    end: Annotated[
        str | None, typer.Option("--end", metavar="INSTANT", help="Only instances before this. Default: now.")
    ] = None,
    feed: Annotated[
        str | None, typer.Option("--feed", metavar="NAME", autocompletion=feed_names, help="Only of this feed.")
    ] = None,
    cluster: ClusterName = None,
    repo: AnswerFlags,
) -> None:
    """List the instances of feeds in a period that were not available in time: Missed-SLA-Low or Missed-SLA-High."""
    from toolkit.bootstrap.monitor import look_at_feeds
    from toolkit.clock import SystemClock
    from toolkit.el import parse_instant
    from toolkit.monitoring.series import watched_series
    from toolkit.monitoring.sla_answers import instances_to_look_at, missed_instances
    from toolkit.rendering.sla import ALERT_COLUMNS, missed_document, missed_rows
    from toolkit.runs.stop import watched_signals

    now, variables = SystemClock().now().replace(second=0, microsecond=0), repo.request().variables
    period = (parse_instant(start), now if end is None else parse_instant(end))
    with repo.opened(writing=False) as (ledger, repository), watched_signals(variables) as process:
        if feed is not None:
            repository.feed(feed)
        watched = watched_series(repository).only(feed, cluster)
        wanted = ledger.read(lambda tx: instances_to_look_at(tx, watched, period, now))
        looks = look_at_feeds(repository, wanted, variables, process)
        found = ledger.read(lambda tx: list(missed_instances(tx, watched, period, now, looks)))
    document = missed_document(found)
    print_rows(repo.output, lambda: document, ALERT_COLUMNS, missed_rows(found), nothing="all were available in time")


@app.command("backlog")
@flat
def backlog(
    *,
    entity: _AnyEntity = None,
    cluster: ClusterName = None,
    every: Annotated[bool, typer.Option("--all", help="Also entities that are not behind.")] = False,
    repo: AnswerFlags,
) -> None:
    """List how many instances of each entity are open, and for how many minutes it is behind; 0: it is not."""
    from toolkit.clock import SystemClock
    from toolkit.ledger import sla as rows
    from toolkit.rendering.sla import BACKLOG_COLUMNS, backlog_document, backlog_rows

    now = SystemClock().now()
    with repo.opened_with_settings(writing=False) as (ledger, _):
        known = ledger.read(rows.backlog)
    found = [
        each
        for each in known
        if entity in (None, each.key.entity)
        and cluster in (None, each.key.cluster)
        and (every or entity is not None or each.late)
    ]
    document = backlog_document(found, now)
    print_rows(repo.output, lambda: document, BACKLOG_COLUMNS, backlog_rows(found, now), nothing="nothing is behind")


@app.command("explain")
@flat
def explain(
    *,
    entity: Annotated[
        str, typer.Argument(metavar="ENTITY", autocompletion=entity_names, help="A feed, a process or a dataset.")
    ],
    cluster: ClusterName = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="INSTANT", help="The instance. Default: the newest.")
    ] = None,
    repo: AnswerFlags,
) -> None:
    """Explain by when an instance is expected, its state, and what that is known from."""
    from toolkit.clock import SystemClock
    from toolkit.el import parse_instant
    from toolkit.monitoring.series import watched_series
    from toolkit.monitoring.sla_explanation import explain_sla, series_named
    from toolkit.rendering.sla import explanation_document, explanation_lines

    instant = None if time is None else parse_instant(time)
    with repo.opened(writing=False) as (ledger, repository):
        watched = watched_series(repository)
        series = series_named(watched, entity, cluster)
        now = SystemClock().now()
        found = ledger.read(lambda tx: explain_sla(tx, watched, series, instant, now))
    print_answer(repo.output, explanation_document(found), *explanation_lines(found))
