"""`feedctl entity diff`: what the changes since a commit do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.flags import RepoFlags, flat
from toolkit.variables import process_variables

if TYPE_CHECKING:
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
    form: Annotated[DiffFormat, typer.Option("--format", help="How to print the differences.")] = DiffFormat.TEXT,
) -> None:
    """Print what is different since a commit, who depends on it, and what retention would do with the data."""
    from toolkit.cli.streams import print_result
    from toolkit.clock import SystemClock

    options = DiffOptions(ref=ref, config_repo=repo.config_repo, environment=repo.env, time=time)
    print_result(render(diff_config_repo(options, SystemClock()), form))


@dataclass(frozen=True, kw_only=True, slots=True)
class DiffOptions:
    """The options as the user gave them.

    Attributes:
        ref: what to compare with.
        config_repo: None: FEEDCTL_REPO, else the nearest parent with a repo.yaml.
        environment: None: the repo's default one.
        time: None: of the commit.
    """

    ref: str
    config_repo: str | None
    environment: str | None
    time: str | None


def diff_config_repo(options: DiffOptions, clock: Clock) -> EntityDiff:
    """The difference that the options mean.

    Raises:
        InvalidInput: there is no config repo, no such commit or environment, or the time is none.
    """
    from toolkit.cli.option_values import reference_time
    from toolkit.config_source import find_repo, named_repo, open_base, open_snapshot
    from toolkit.linter.collect import Base
    from toolkit.linter.entity_diff import entity_diff

    configured = options.config_repo
    location = find_repo(Path.cwd(), process_variables()) if configured is None else named_repo(configured)
    snapshot = open_snapshot(location)
    base = Base(ref=options.ref, snapshot=open_base(location, options.ref))
    time = reference_time(options.time, snapshot, clock, base.snapshot)
    return entity_diff(snapshot, base, options.environment, time)


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
