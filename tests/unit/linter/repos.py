"""Config repos for the tests of the linter: the standard one with other texts over it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path

from toolkit.config_source import Snapshot, SnapshotId, SnapshotKind, from_directory
from toolkit.el import parse_instant
from toolkit.entities.source_files import is_config_file, is_script
from toolkit.lineage.workflow_columns import columns_read
from toolkit.linter.baseline import Baseline
from toolkit.linter.collect import Base
from toolkit.linter.engine import LintRequest, lint
from toolkit.linter.report import LintReport
from toolkit.linter.rule import Rule
from toolkit.linter.rules import RULES
from toolkit.linter.settings import RuleSelection

STANDARD = Path(__file__).parent / "standard_repo"
TIME = parse_instant("2026-03-10T12:00Z")
"""The instant of a lint when a test does not care."""

Texts = Mapping[str, str | None]
"""Files by path; None: the standard repo's file is not there."""


@cache
def standard_texts() -> Mapping[str, str]:
    """The files of the standard repo, which no rule objects to."""
    paths = sorted(path for path in STANDARD.rglob("*") if path.is_file())
    return {path.relative_to(STANDARD).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def snapshot(texts: Texts) -> Snapshot:
    """The standard repo with these texts over it."""
    return snapshot_of({**standard_texts(), **texts})


def snapshot_of(merged: Texts) -> Snapshot:
    """A repo of these texts alone."""
    data = {name: text.encode() for name, text in sorted(merged.items()) if text is not None}
    files = {name: text for name, text in data.items() if is_config_file(name)}
    return Snapshot(
        root="/repo",
        files=files,
        names=frozenset(data) - files.keys(),
        texts={name: text for name, text in data.items() if name not in files and is_script(name)},
        id=SnapshotId(kind=SnapshotKind.DIRECTORY, value="sha256:0"),
    )


def snapshot_on_disk(root: Path, texts: Texts, links: Mapping[str, str]) -> Snapshot:
    """The same, read from a directory that has symbolic links too; each link says where it leads."""
    for name, text in {**standard_texts(), **texts}.items():
        if text is not None:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
    for name, target in links.items():
        (root / name).symlink_to(target)
    return from_directory(root)


def lint_texts(
    texts: Texts,
    *,
    at: Snapshot | None = None,
    base: Texts | None = None,
    time: datetime = TIME,
    environments: tuple[str, ...] = (),
    select: tuple[str, ...] = (),
    baseline: Baseline | None = None,
    rules: Mapping[str, Rule] = RULES,
) -> LintReport:
    """Lints the standard repo with these texts over it, or what is at another place; `base` likewise is the base."""
    request = LintRequest(
        snapshot=snapshot(texts) if at is None else at,
        time=time,
        environments=environments,
        base=None if base is None else Base(ref="main", snapshot=snapshot(base)),
        selection=RuleSelection(select=select),
        baseline=baseline,
        columns_read=columns_read,
    )
    return lint(request, rules)
