"""`feedctl hold`: instances that nothing may delete, beside those of holds.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import feed_names
from toolkit.cli.options import ClusterName, ConfigRepo, Env, Output, OutputAs, print_json, print_rows

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
    """Hold instances: retention leaves them, whatever the feed says; beside the holds of holds.yaml."""


@app.command("add")
def add(
    feed: _Feed,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; shown for every instance it keeps.")],
    cluster: ClusterName = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="INSTANT", help="The first instance. Default: all from the first on."),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--end", metavar="INSTANT", help="The first that is free again. Default: for ever.")
    ] = None,
    owner: Annotated[str | None, typer.Option("--owner", metavar="NAME", help="Whom to ask.")] = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Hold the instances of a feed in [start, end), on one cluster or on all."""
    from toolkit.cli.opened import opened
    from toolkit.entities.holds import Hold
    from toolkit.ledger.state.holds import as_entity_hold
    from toolkit.management.holds import KnownHold, add_hold, hold_range
    from toolkit.rendering.overview import hold_document
    from toolkit.runs.recorder import current_user

    first, until = hold_range(start, end)
    wanted = Hold(feed=feed, cluster=cluster, start=first, end=until, reason=reason, owner=owner)
    with opened(config_repo, env, writing=True) as (ledger, repository):
        _check(repository, wanted)
        held = add_hold(ledger, wanted, current_user())
    if output is Output.JSON:
        known = KnownHold(hold=as_entity_hold(held.hold), recorded=held.hold)
        print_json({"changed": held.is_changed, "hold": hold_document(known)})
    elif held.is_changed:
        print(f"hold {held.hold.hold_id} on {feed} added")
    else:
        print(f"hold {held.hold.hold_id} on {feed} says the same already; nothing was changed")


@app.command("list")
def list_holds(
    feed: _AnyFeed = None,
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """List the holds: of holds.yaml, of the ledger, and the hold files that the last runs of retention met."""
    from toolkit.cli.opened import opened
    from toolkit.management.holds import known_holds
    from toolkit.rendering.overview import HOLD_COLUMNS, hold_document, hold_rows

    with opened(config_repo, env, writing=False) as (ledger, repository):
        if feed is not None:
            repository.feed(feed)
        found = known_holds(ledger, repository.holds, feed)
    rows = hold_rows(found)
    print_rows(
        output, lambda: {"holds": [hold_document(each) for each in found]}, HOLD_COLUMNS, rows, nothing="no holds"
    )


@app.command("remove")
def remove(
    number: Annotated[
        int, typer.Argument(metavar="ID", help="The number of the hold, as `feedctl hold list` shows it.")
    ],
    config_repo: ConfigRepo = None,
    env: Env = None,
    output: OutputAs = Output.TEXT,
) -> None:
    """Let the instances of a hold go again; those of holds.yaml are removed there."""
    from toolkit.cli.opened import opened_with_settings
    from toolkit.management.holds import remove_hold
    from toolkit.runs.recorder import current_user

    with opened_with_settings(config_repo, env, writing=True) as (ledger, _):
        changed = remove_hold(ledger, number, current_user())
    if output is Output.JSON:
        print_json({"id": number, "changed": changed})
    else:
        print(f"hold {number} removed" if changed else f"hold {number} was removed before; nothing was changed")


def _check(repository: Repository, wanted: Hold) -> None:
    """A hold on a feed or cluster that does not exist would hold nothing, in silence."""
    entity = repository.feed(wanted.feed)
    if wanted.cluster is not None:
        entity.cluster(wanted.cluster)
