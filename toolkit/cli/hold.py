"""`feedctl hold`: instances that nothing may delete, beside those of holds.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import feed_names
from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import ClusterName, print_answer, print_rows

if TYPE_CHECKING:
    from toolkit.entities.holds import Hold
    from toolkit.entities.repository import Repository

app = typer.Typer(no_args_is_help=True)

_Feed = Annotated[str, typer.Argument(metavar="FEED", autocompletion=feed_names, help="Whose instances stay.")]
_AnyFeed = Annotated[
    str | None, typer.Argument(metavar="FEED", autocompletion=feed_names, help="Only holds on this feed.")
]


@app.callback()
def hold() -> None:
    """Hold instances, so that retention keeps them whatever the feed says; in addition to holds.yaml."""


@app.command("add")
@flat
def add(
    *,
    feed: _Feed,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; shown for every instance it keeps.")],
    cluster: ClusterName = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="INSTANT", help="The first instance. Default: all from the first on."),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--end", metavar="INSTANT", help="The first instant that is not held. Default: no end."),
    ] = None,
    owner: Annotated[str | None, typer.Option("--owner", metavar="NAME", help="Whom to ask.")] = None,
    repo: AnswerFlags,
) -> None:
    """Hold the instances of a feed in [start, end), on one cluster or on all."""
    from toolkit.entities.holds import Hold
    from toolkit.ledger.state.holds import as_entity_hold
    from toolkit.management.holds import KnownHold, add_hold, hold_range
    from toolkit.rendering.overview import hold_document
    from toolkit.runs.recorder import current_user

    first, until = hold_range(start, end)
    wanted = Hold(feed=feed, cluster=cluster, start=first, end=until, reason=reason, owner=owner)
    with repo.opened(writing=True) as (ledger, repository):
        _check(repository, wanted)
        held = add_hold(ledger, wanted, current_user())
    known = KnownHold(hold=as_entity_hold(held.hold), recorded=held.hold)
    done = "added" if held.is_changed else "says the same already; nothing was changed"
    document = {"changed": held.is_changed, "hold": hold_document(known)}
    print_answer(repo.output, document, f"hold {held.hold.hold_id} on {feed} {done}")


@app.command("list")
@flat
def list_holds(*, feed: _AnyFeed = None, repo: AnswerFlags) -> None:
    """List the holds: of holds.yaml, of the ledger, and the hold files that the last runs of retention met."""
    from toolkit.management.holds import known_holds
    from toolkit.rendering.overview import HOLD_COLUMNS, hold_document, hold_rows

    with repo.opened(writing=False) as (ledger, repository):
        if feed is not None:
            repository.feed(feed)
        found = known_holds(ledger, repository.holds, feed)
    rows = hold_rows(found)
    document = {"holds": [hold_document(each) for each in found]}
    print_rows(repo.output, lambda: document, HOLD_COLUMNS, rows, nothing="no holds")


@app.command("remove")
@flat
def remove(
    *,
    number: Annotated[
        int, typer.Argument(metavar="ID", help="The number of the hold, as `feedctl hold list` shows it.")
    ],
    repo: AnswerFlags,
) -> None:
    """Remove a hold; holds of holds.yaml are removed in that file."""
    from toolkit.management.holds import remove_hold
    from toolkit.runs.recorder import current_user

    with repo.opened_with_settings(writing=True) as (ledger, _):
        changed = remove_hold(ledger, number, current_user())
    done = "removed" if changed else "was removed before; nothing was changed"
    print_answer(repo.output, {"id": number, "changed": changed}, f"hold {number} {done}")


def _check(repository: Repository, wanted: Hold) -> None:
    """A hold on a feed or cluster that does not exist would hold nothing, in silence."""
    entity = repository.feed(wanted.feed)
    if wanted.cluster is not None:
        entity.cluster(wanted.cluster)
