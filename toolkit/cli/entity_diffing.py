"""What `feedctl entity diff` does between its options and what it prints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.cli.entity_diff import DiffFormat
from toolkit.cli.reference_time import reference_time
from toolkit.config_source import find_repo, named_repo, open_base, open_snapshot
from toolkit.linter.collect import Base
from toolkit.linter.entity_diff import EntityDiff, entity_diff

if TYPE_CHECKING:
    from toolkit.clock import Clock


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
    configured = options.config_repo
    location = find_repo(Path.cwd(), os.environ) if configured is None else named_repo(configured)
    snapshot = open_snapshot(location)
    base = Base(ref=options.ref, snapshot=open_base(location, options.ref))
    time = reference_time(options.time, snapshot, clock, base.snapshot)
    return entity_diff(snapshot, base, options.environment, time)


def render(diff: EntityDiff, form: DiffFormat) -> str:
    """The difference in a form; what only one form needs is loaded for that form only."""
    match form:
        case DiffFormat.JSON:
            from toolkit.rendering.entity_diff import entity_diff_json

            return entity_diff_json(diff)
        case DiffFormat.MARKDOWN:
            from toolkit.rendering.entity_diff import entity_diff_markdown

            return entity_diff_markdown(diff)
        case DiffFormat.TEXT:
            from toolkit.rendering.entity_diff import entity_diff_text

            return entity_diff_text(diff)
