"""`feedctl entity diff`: what the changes since a commit do."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.flags import RepoFlags, flat

if TYPE_CHECKING:
    from toolkit.bootstrap.config import RepoRequest
    from toolkit.clock import Clock
    from toolkit.linter.entity_diff import EntityDiff


class DiffFormat(StrEnum):
    """The values of `--format`."""

    TEXT = "text"
    """For people."""
    MARKDOWN = "markdown"
    """For a comment on a pull request: a short summary, and the rest to unfold."""
    JSON = "json"
    """One document, with a schema version."""


@flat
def diff_entities(
    *,
    ref: Annotated[str, typer.Argument(metavar="REF", help="The branch, tag or commit to compare with.")],
    repo: RepoFlags,
    time: Annotated[
        str | None,
        typer.Option("--time", metavar="INSTANT", help="When retention runs next. Default: when HEAD was committed."),
    ] = None,
    form: Annotated[DiffFormat, typer.Option("--output", help="The format of the differences.")] = DiffFormat.TEXT,
) -> None:
    """Print what is different since a commit, who depends on it, and what retention would do with the data."""
    from toolkit.cli.streams import print_result
    from toolkit.clock import SystemClock

    print_result(render(diff_config_repo(repo.request(), ref, time, SystemClock()), form))


def diff_config_repo(repo: RepoRequest, ref: str, time: str | None, clock: Clock) -> EntityDiff:
    """Return the differences since a commit, for runs of retention at a time; None: that of the commit.

    Raises:
        InvalidInput: there is no config repo, no such commit or environment, or the time is none.
    """
    from toolkit.cli.option_values import reference_time
    from toolkit.config_source import open_base, open_snapshot
    from toolkit.linter.collect import Base
    from toolkit.linter.entity_diff import entity_diff

    location = repo.location
    snapshot = open_snapshot(location)
    base = Base(ref=ref, snapshot=open_base(location, ref))
    at = reference_time(time, snapshot, clock, base.snapshot)
    return entity_diff(snapshot, base, repo.environment, at)


def render(diff: EntityDiff, form: DiffFormat) -> str:
    """The difference in a form."""
    from toolkit.rendering.entity_diff import entity_diff_json, entity_diff_markdown, entity_diff_text

    match form:
        case DiffFormat.JSON:
            return entity_diff_json(diff)
        case DiffFormat.MARKDOWN:
            return entity_diff_markdown(diff)
        case DiffFormat.TEXT:
            return entity_diff_text(diff)
