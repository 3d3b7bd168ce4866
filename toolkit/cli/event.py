"""`feedctl event`: updates of datasets that other programs announce, and the events of the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import print_answer, print_rows
from toolkit.ledger.vocabulary import EventKind

if TYPE_CHECKING:
    from toolkit.entities import Repository
    from toolkit.ledger.event_queries import EventFilter

app = typer.Typer(no_args_is_help=True)

_Uri = Annotated[
    str,
    typer.Argument(
        metavar="URI",
        help="The dataset, for example s3://bucket/orders or feedctl:feed/clicks?cluster=primary, or where a feed is.",
    ),
]
_Key = Annotated[
    str | None,
    typer.Option("--time", metavar="INSTANT", help="The instance. Default: the dataset as a whole."),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class EventFlags:
    """Options that choose events."""

    uri: Annotated[str | None, typer.Argument(metavar="URI", help="Only of this dataset. Default: of all.")] = None
    key: Annotated[str | None, typer.Option("--time", metavar="INSTANT", help="Only of this instance.")] = None
    kind: Annotated[
        list[EventKind] | None,
        typer.Option("--kind", metavar="KIND", help="Only available, updated, evicted or retracted; repeatable."),
    ] = None
    run: Annotated[int | None, typer.Option("--run", metavar="NUMBER", help="Only of this run.")] = None
    since: Annotated[
        str | None, typer.Option("--since", metavar="INSTANT", help="Only those recorded at or after it.")
    ] = None
    limit: Annotated[int, typer.Option("--limit", min=1, help="Show at most this many, the newest.")] = 100


@app.callback()
def event() -> None:
    """Announce updates of data that others write, retract them, and list events."""


@app.command("emit")
@flat
def emit(
    *,
    uri: _Uri,
    key: _Key = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="ID", help="The id of this update: a second update with the same id changes nothing."
        ),
    ] = None,
    extra: Annotated[
        str | None,
        typer.Option("--extra", metavar="JSON", help="An object for consumers; `partition` is compared with triggers."),
    ] = None,
    repo: AnswerFlags,
) -> None:
    """Announce that a dataset, or an instance of it, was updated; the next trigger run starts what waits for it."""
    from dataclasses import replace

    from toolkit.clock import SystemClock
    from toolkit.management.external_events import (
        checked_extra,
        checked_id,
        emit_update,
        external_update,
        refuse_future,
    )
    from toolkit.rendering.events import emitted_document, emitted_line
    from toolkit.runs.recorder import current_user

    token, extra = checked_id(token), checked_extra(extra)
    with repo.opened(writing=True) as (ledger, repository):
        update = replace(external_update(repository, uri, key), extra=extra, idempotency_key=token)
        refuse_future(update, SystemClock().now())
        emitted = emit_update(ledger, update, current_user())
    print_answer(repo.output, emitted_document(emitted), emitted_line(emitted))


@app.command("retract")
@flat
def retract(*, uri: _Uri, key: _Key = None, repo: AnswerFlags) -> None:
    """Retract an announced update: triggers that have not consumed it yet ignore it."""
    from toolkit.management.external_events import external_update, retract_update
    from toolkit.rendering.events import emitted_document, emitted_line
    from toolkit.runs.recorder import current_user

    with repo.opened(writing=True) as (ledger, repository):
        emitted = retract_update(ledger, external_update(repository, uri, key), current_user())
    print_answer(repo.output, emitted_document(emitted), emitted_line(emitted))


@app.command("list")
@flat
def list_events(*, which: EventFlags, repo: AnswerFlags) -> None:
    """List the newest events, in the order in which they became visible."""
    from toolkit.ledger import event_queries
    from toolkit.rendering.events import EVENT_COLUMNS, event_documents, event_rows

    with repo.opened(writing=False) as (ledger, repository):
        chosen = _filter(repository, which)
        found = ledger.read(lambda tx: event_queries.list_events(tx, chosen, which.limit))
    rows = event_rows(found)
    print_rows(repo.output, lambda: {"events": event_documents(found)}, EVENT_COLUMNS, rows, nothing="no events")


def _filter(repository: Repository, which: EventFlags) -> EventFilter:
    """Return the choice; a feed that has left the config repo may be named too."""
    from toolkit.el import format_instant, parse_instant
    from toolkit.ledger.event_queries import EventFilter
    from toolkit.management.external_events import dataset_of

    return EventFilter(
        dataset=None if which.uri is None else dataset_of(repository, which.uri).text,
        instance_key=None if which.key is None else format_instant(parse_instant(which.key)),
        kinds=which.kind or None,
        run_id=which.run,
        since=None if which.since is None else parse_instant(which.since),
    )
