"""Migrates Falcon's entities: plans the files, lets lint read them, and writes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolkit.clock import Clock
from toolkit.config_source import Snapshot, from_directory
from toolkit.entities import ConfigProblem
from toolkit.entities.source_files import REPO_FILE
from toolkit.linter.engine import LintRequest, lint
from toolkit.linter.findings import Severity
from toolkit.migration.draft import MigrationRefused
from toolkit.migration.new_files import NotAConfigRepo, NotWritten, is_new, place
from toolkit.migration.plan import Plan, nothing_there, plan, refuse_taken
from toolkit.migration.report import Complaint, Report, accepting, marked, report
from toolkit.migration.sources import read_sources

_SECRET_RULE = "secret-in-repo"  # noqa: S105 - the name of a rule


@dataclass(frozen=True, kw_only=True, slots=True)
class Migration:
    """Files of a migration, and the report about it."""

    plan: Plan
    report: Report


def migration(paths: Sequence[Path], root: Path, clock: Clock) -> Migration:
    """Plan a migration; nothing is written.

    What lint says about the files is about what Falcon's entities say: comments accept it, and the report lists it.

    Args:
        paths: files and folders of XML.
        root: the config repo, which may have yet to be made.
        clock: lint asks for the time.

    Raises:
        MigrationRefused: something in the XML is wrong, or a secret stands in it.
        NotAConfigRepo: the folder has something else in it.
    """
    planned = marked(plan(read_sources(paths), _existing(root)))
    complaints = _complaints(planned, clock)
    _refuse_secrets(planned, complaints)
    accepted, found = accepting(planned, complaints)
    refuse_taken(accepted)
    return Migration(plan=accepted, report=report(accepted, found, _complaints(accepted, clock) if complaints else ()))


def write(root: Path, made: Migration) -> None:
    """Write what was planned, and nothing else.

    Raises:
        NotWritten: the system refused, or a file is in the way by now.
    """
    place(root, made.plan.files)


def _existing(root: Path) -> Snapshot:
    try:
        if is_new(root):
            return nothing_there(root)
        existing = from_directory(root)
        has_files = any(not each.name.startswith(".") for each in root.iterdir())
    except OSError as error:
        raise NotWritten(path=str(root), reason=error.strerror or str(error)) from error
    if REPO_FILE not in existing.files and has_files:
        raise NotAConfigRepo(path=str(root))
    return existing


def _complaints(planned: Plan, clock: Clock) -> tuple[Complaint, ...]:
    found = lint(LintRequest(snapshot=planned.snapshot(), time=clock.now())).findings
    return tuple(
        Complaint(file=each.file, line=each.line, key=each.key, rule=each.rule, message=each.message)
        for each in found
        if each.severity is not Severity.INFO and each.file in planned.files
    )


def _refuse_secrets(planned: Plan, complaints: Iterable[Complaint]) -> None:
    """A password that was in Falcon's store does not get into git."""
    problems = [
        ConfigProblem(
            file=each.file,
            line=each.line,
            rule=each.rule,
            message=each.message,
            hint="take it out of the XML; docs/steps.md says how a workflow gets a secret",
        )
        for each in complaints
        if each.rule == _SECRET_RULE
    ]
    if problems:
        raise MigrationRefused(problems=planned.tracing().in_xml(problems))
