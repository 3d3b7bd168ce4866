"""Steps of `feedctl lint` between its options and its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.bootstrap.config import RepoRequest
from toolkit.cli.lint import LintFlags, LintFormat
from toolkit.cli.option_values import reference_time
from toolkit.cli.streams import Keeps, encoded
from toolkit.config_source import Snapshot, find_checkout, open_base, open_snapshot, read_file
from toolkit.entities.source_files import is_script
from toolkit.entities.suite_code import allows_suite_sql
from toolkit.errors import Failed, InvalidInput
from toolkit.linter.baseline import BadBaseline, Baseline, BaselineEntry
from toolkit.linter.collect import Base
from toolkit.linter.engine import Focus, LintRequest, lint
from toolkit.linter.rules import RULES
from toolkit.linter.settings import RuleSelection
from toolkit.plain_files import replace_file
from toolkit.result import ExitCode
from toolkit.variables import process_variables

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from toolkit.clock import Clock
    from toolkit.linter.report import LintReport
    from toolkit.planning.process_io import ProcessSite


class UnknownPath(InvalidInput):
    """A path that is not in the config repo.

    Args:
        path: as the user gave it.
        root: the config repo.
    """

    def __init__(self, *, path: str, root: str) -> None:
        self.path, self.root = path, root
        super().__init__(f"found the path {path}, expected a file or folder of the config repo {root}")


class BaselineNotWritten(Failed):
    """The baseline could not be written.

    Args:
        file: as the user gave it.
        reason: what the system said.
    """

    def __init__(self, *, file: str, reason: str) -> None:
        self.file, self.reason = file, reason
        super().__init__(f"--write-baseline: {file} could not be written: {reason}")


def repo_paths(paths: Iterable[str], snapshot: Snapshot, directory: Path, *, strict: bool) -> Iterator[str]:
    """The paths as the config repo has them; a relative one is meant from the working directory, else from the repo.

    Args:
        paths: as the user gave them.
        snapshot: the config repo.
        directory: the working directory.
        strict: a path that is not in the config repo is an error; else it is left out.

    Raises:
        UnknownPath: see `strict`.
    """
    known = _with_folders({*snapshot.files, *snapshot.names, *(problem.file for problem in snapshot.problems)})
    root = Path(snapshot.root).resolve()
    for text in paths:
        found = next((each for each in _candidates(text, root, directory) if each in known), None)
        if found is not None:
            yield found
        elif strict:
            raise UnknownPath(path=text, root=snapshot.root)


def _candidates(text: str, root: Path, directory: Path) -> Iterator[str]:
    absolute = Path(os.path.abspath(directory / text))  # noqa: PTH100 - a link in the repo is a name of its own
    if absolute.is_relative_to(root):
        yield _text(absolute.relative_to(root))
    yield _text(Path(os.path.normpath(text)))


def _text(path: Path) -> str:
    text = path.as_posix()
    return "" if text == "." else text


def _with_folders(names: Iterable[str]) -> set[str]:
    found = {""}
    for name in names:
        above = name
        while above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class BaselineFile:
    """The file of the baseline.

    Attributes:
        name: as the user gave it.
    """

    name: str

    def read(self, *, may_be_missing: bool) -> Baseline:
        """The baseline; of a file that may be missing, and is, an empty one.

        Raises:
            BadBaseline: the file is missing, cannot be read, or is no baseline.
        """
        try:
            return Baseline.parse(read_file(Path(self.name)).decode(), self.name)
        except FileNotFoundError as error:
            if may_be_missing:
                return Baseline(file=self.name, entries=())
            raise BadBaseline(file=self.name, reason="the file does not exist") from error
        except OSError as error:
            raise BadBaseline(file=self.name, reason=f"the file cannot be read ({error.strerror})") from error
        except UnicodeDecodeError as error:
            raise BadBaseline(file=self.name, reason="the file is not UTF-8") from error

    def write(self, entries: tuple[BaselineEntry, ...]) -> None:
        """Write the baseline, all of it or nothing.

        Raises:
            BaselineNotWritten: it could not be written.
        """
        try:
            replace_file(Path(self.name), encoded(Baseline(file=self.name, entries=entries).text()))
        except OSError as error:
            raise BaselineNotWritten(file=self.name, reason=error.strerror or str(error)) from error


class BadLintOption(InvalidInput):
    """An option of `feedctl lint` that cannot be used.

    Args:
        option: as the user gave it.
        why: what is wrong with it, and what to do.
    """

    def __init__(self, *, option: str, why: str) -> None:
        self.option, self.why = option, why
        super().__init__(f"{option}: {why}")


def lint_config_repo(options: LintFlags, clock: Clock) -> LintReport:
    """Lint the config repo that the options mean, and write the baseline when they say so.

    Raises:
        InvalidInput: an option cannot be used, or there is no config repo.
        BaselineNotWritten: the baseline could not be written.
    """
    _refuse_conflicts(options)
    location = _repo(options.config_repo)
    snapshot = open_snapshot(location, keeps=is_script)
    base = _base(location, options.against)
    request = LintRequest(
        snapshot=snapshot,
        time=reference_time(options.time, snapshot, clock, None if base is None else base.snapshot),
        environments=() if options.env is None else (options.env,),
        all_environments=options.all_envs,
        base=base,
        selection=RuleSelection(select=_split(options.select), ignore=_split(options.ignore)),
        baseline=_baseline(options),
        adopt=options.write_baseline,
        focus=_focus(options, snapshot),
        allows_suite_sql=allows_suite_sql(process_variables()),
        columns_read=_columns_read,
    )
    report = lint(request)
    if options.baseline is not None and options.write_baseline:
        BaselineFile(name=options.baseline).write(report.baseline)
    return report


def render(report: LintReport, form: LintFormat, prefixes: Prefixes, *, colours: bool) -> str:
    """The report in a form; what only one form needs is loaded for that form only.

    Args:
        report: what was found.
        form: of `--output`.
        prefixes: what stands before the paths of files.
        colours: for a terminal.
    """
    match form:
        case LintFormat.JSON:
            from toolkit.rendering.lint_formats import lint_json

            return lint_json(report)
        case LintFormat.SARIF:
            from toolkit.rendering.lint_formats import lint_sarif

            return lint_sarif(report, RULES, prefixes.in_checkout)
        case LintFormat.GITHUB:
            from toolkit.rendering.lint_formats import lint_github

            return lint_github(report, prefixes.in_checkout)
        case LintFormat.TEXT if colours:
            from toolkit.rendering.lint import lint_terminal_text

            return lint_terminal_text(report, RULES, prefixes.shown)
        case LintFormat.TEXT:
            from toolkit.rendering.lint import lint_text

            return lint_text(report, RULES, prefixes.shown)


@dataclass(frozen=True, kw_only=True, slots=True)
class Prefixes:
    """Prefixes of the config repo's paths in the places around it; empty, or ends with ``/``.

    Attributes:
        in_checkout: from the top of the git checkout, as GitHub wants paths.
        shown: from the working directory, when the config repo is below it.
    """

    in_checkout: str
    shown: str

    @classmethod
    def of(cls, config_repo: str | None) -> Prefixes:
        """The prefixes of the config repo that `--config-repo` means."""
        location = _repo(config_repo)
        if not location.is_dir():
            return cls(in_checkout="", shown="")
        root = location.resolve()
        checkout = find_checkout(root)
        top = root if checkout is None else checkout.top
        here = Path.cwd().resolve()
        return cls(in_checkout=_below(root, top), shown=_below(root, here) if root.is_relative_to(here) else "")


def exit_code(report: LintReport) -> ExitCode:
    """The exit code that a report stands for."""
    return ExitCode.FAILED if report.failed else ExitCode.DONE


def for_terminal() -> bool:
    """Return whether a person looks at what is printed."""
    return sys.stdout.isatty()


def keeps(form: LintFormat) -> Keeps:
    """Return which control characters of a format are our own, and stay when it is printed."""
    if form is LintFormat.GITHUB:
        return Keeps.COMMANDS
    return Keeps.STYLES if form is LintFormat.TEXT and for_terminal() else Keeps.NOTHING


def _below(root: Path, top: Path) -> str:
    text = root.relative_to(top).as_posix()
    return "" if text == "." else f"{text}/"


def _refuse_conflicts(options: LintFlags) -> None:
    if options.env is not None and options.all_envs:
        raise BadLintOption(option="--env and --all-envs", why="found both, expected at most one of them")
    if options.write_baseline and options.baseline is None:
        raise BadLintOption(option="--write-baseline", why="found no --baseline FILE, expected the file to write")


def _repo(config_repo: str | None) -> Path:
    return RepoRequest(config_repo=config_repo, variables=process_variables()).location


def _base(location: Path, ref: str | None) -> Base | None:
    return None if ref is None else Base(ref=ref, snapshot=open_base(location, ref, keeps=is_script))


def _split(texts: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(part.strip() for text in texts or () for part in text.split(","))


def _baseline(options: LintFlags) -> Baseline | None:
    if options.baseline is None:
        return None
    return BaselineFile(name=options.baseline).read(may_be_missing=options.write_baseline)


def _focus(options: LintFlags, snapshot: Snapshot) -> Focus:
    paths = repo_paths(options.paths or (), snapshot, Path.cwd(), strict=not options.changed_first)
    return Focus(paths=tuple(paths), others_after=options.changed_first)


def _columns_read(
    site: ProcessSite, script: str, columns: Mapping[str, tuple[str, ...]]
) -> Collection[tuple[str, str]] | None:
    """Load what reads SQL when a feed has lost a column: with it comes the ledger, a quarter of the time of lint."""
    from toolkit.lineage.workflow_columns import columns_read

    return columns_read(site, script, columns)
