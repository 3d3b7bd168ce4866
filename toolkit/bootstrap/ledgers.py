"""The ledger that a command means, and the audit file beside it (DESIGN section 6)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from toolkit.bootstrap.config import RepoRequest, load_entities, load_settings_of, open_config
from toolkit.config_source import Snapshot
from toolkit.config_source.snapshot import SnapshotKind
from toolkit.el import ElError
from toolkit.entities.addresses import AUDIT_OUTSIDE_RULE, check_local_path, outside_audit_file
from toolkit.entities.env_references import expand_path
from toolkit.entities.problems import ConfigError
from toolkit.entities.repo import RepoSettings
from toolkit.entities.repository import Repository
from toolkit.entities.source_files import REPO_FILE
from toolkit.errors import InvalidInput
from toolkit.ledger.database import Ledger
from toolkit.ledger.location import LedgerLocation, located
from toolkit.ledger.opening import LedgerExamination, examine, open_ledger
from toolkit.programs.step_environment import LISTED_VARIABLE, WITHHELD_VARIABLE
from toolkit.runs.audit import AuditPlace
from toolkit.variables import Variables

LEDGER_VARIABLE = "FEEDCTL_LEDGER"
"""Environment variable that names the ledger, whatever the config repo says."""
AUDIT_VARIABLE = "FEEDCTL_AUDIT"
"""Environment variable that names the audit file, whatever the config repo says."""

_AUDIT_SUFFIX = ".audit.jsonl"
_OWN_FILE = "own-file"
"""The problem of a snapshot that has names of feedctl's own files."""
_RELATIVE = re.compile(r"sqlite:///[^/]")


class NoLedgerNamed(InvalidInput):
    """Neither the environment nor the config repo names a ledger."""

    code = "no_ledger"

    def __init__(self) -> None:
        super().__init__(
            f"found no ledger, expected `ledger:` in {REPO_FILE} or {LEDGER_VARIABLE}; name a SQLite file "
            "(sqlite:///.feedctl/ledger.db, below the config repo) or a PostgreSQL database "
            "(postgresql://USER:${env:FEEDCTL_LEDGER_PASSWORD}@HOST/DATABASE); an action can also do without: "
            "--no-ledger"
        )


class LedgerWithheld(InvalidInput):
    """A step asks for the ledger, and its runner works with one that steps do not get."""

    code = "ledger_withheld"

    def __init__(self) -> None:
        super().__init__(
            f"the run of this step works with the ledger of {LEDGER_VARIABLE}, which steps do not get; let the "
            f"operator list {LEDGER_VARIABLE}, and the variable of its password, in {LISTED_VARIABLE}"
        )


class BadAuditFile(InvalidInput):
    """A path that names no audit file.

    Args:
        named_by: who gave it.
        found: the path, and what is wrong with it.
    """

    code = "bad_audit_file"

    def __init__(self, *, named_by: str, found: str) -> None:
        self.named_by, self.found = named_by, found
        super().__init__(
            f"the audit file {found}; name it by its whole path, in {AUDIT_VARIABLE}"
            f"{'' if named_by == AUDIT_VARIABLE else f' or in {REPO_FILE}'}"
        )


class OutsideAuditFile(InvalidInput):
    """The config repo names an audit file outside of itself: a pull request could choose any file.

    Args:
        path: as it was given.
    """

    code = "outside_audit_file"

    def __init__(self, *, path: str) -> None:
        self.path = path
        super().__init__(
            f"the audit file {path} of {REPO_FILE} is outside of the config repo, expected one below it; let the "
            f"operator name it in {AUDIT_VARIABLE}, or write `accept: [{AUDIT_OUTSIDE_RULE}]` in {REPO_FILE}"
        )


class UntrustedFile(InvalidInput):
    """A file that feedctl keeps in the config repo is one that came with the repo.

    Args:
        path: relative to the config repo.
        found: what is wrong with it.
    """

    code = "untrusted_file"

    def __init__(self, *, path: str, found: str) -> None:
        self.path, self.found = path, found
        super().__init__(
            f"{path} {found}, expected a file that feedctl made there; remove it from the config repo, or name another "
            f"place in {LEDGER_VARIABLE} and {AUDIT_VARIABLE}"
        )


def open_ledger_for(repo: RepoRequest, *, read_only: bool) -> Ledger:
    """The ledger that a command means; of the config repo, only the settings have to be right.

    Args:
        repo: the config repo; not looked at when FEEDCTL_LEDGER says it all.
        read_only: nothing is changed or made, and the database refuses every change.

    Raises:
        InvalidInput: no ledger is named, this feedctl must not use it, or there is no usable config repo.
        LedgerUnavailable: the database cannot be used now.
    """
    return open_ledger(location_for(repo), read_only=read_only, variables=repo.variables)


def open_ledger_at(url: str, *, named_by: str, variables: Variables) -> Ledger:
    """The ledger at a URL, for writing; a SQLite file that is named by no whole path is below the working directory.

    Raises:
        InvalidInput: the URL cannot be used, or this feedctl must not use it.
        LedgerUnavailable: the database cannot be used now.
    """
    location = located(url, named_by=named_by, root=Path.cwd(), variables=variables)
    return open_ledger(location, read_only=False, variables=variables)


def location_for(repo: RepoRequest) -> LedgerLocation:
    """Return where the ledger is that a command means.

    Raises:
        InvalidInput: no ledger is named, or its URL cannot be used, or there is no usable config repo.
    """
    named = _named(repo.variables)
    if named and not _RELATIVE.match(named):
        return located(named, named_by=LEDGER_VARIABLE, root=None, variables=repo.variables)
    snapshot = open_config(repo)
    return location_of(snapshot, load_settings_of(snapshot, repo), repo.variables)


def examine_ledger(repo: RepoRequest) -> LedgerExamination:
    """Look at the ledger that a command means, whatever state it is in.

    Raises:
        InvalidInput: no ledger is named, or it must not be used from here.
    """
    return examine(location_for(repo), repo.variables)


def ledger_and_repository(repo: RepoRequest, *, read_only: bool) -> tuple[Ledger, Repository]:
    """The ledger that a command means, and all entities.

    Raises:
        ConfigError: all problems of all files.
        InvalidInput: as for `open_ledger_for`.
        LedgerUnavailable: the database cannot be used now.
    """
    snapshot = open_config(repo)
    repository = load_entities(snapshot, repo)
    return ledger_of(snapshot, repository.settings, repo.variables, read_only=read_only), repository


def ledger_of(snapshot: Snapshot, settings: RepoSettings, variables: Variables, *, read_only: bool) -> Ledger:
    """The ledger of a config repo that was read already; as for `open_ledger_for`."""
    return open_ledger(location_of(snapshot, settings, variables), read_only=read_only, variables=variables)


def location_of(snapshot: Snapshot, settings: RepoSettings, variables: Variables) -> LedgerLocation:
    """Return where the ledger is: FEEDCTL_LEDGER, else `ledger:` of repo.yaml with the environment's overlay.

    Raises:
        NoLedgerNamed: neither is there.
        InvalidInput: the URL cannot be used.
        UntrustedFile: it is a file that came with the config repo, or is reached through a link in it.
    """
    named = _named(variables)
    text, named_by = (named, LEDGER_VARIABLE) if named else (settings.ledger, REPO_FILE)
    if not text:
        raise NoLedgerNamed
    found = located(text, named_by=named_by, root=_root(snapshot), variables=variables, from_repo=not named)
    if found.file is not None:
        for end in ("", "-wal", "-shm", "-journal"):
            _refuse_given(snapshot, found.file.with_name(f"{found.file.name}{end}"))
    return found


def _named(variables: Variables) -> str | None:
    """The ledger of FEEDCTL_LEDGER; a step must not take another one because it does not get that variable."""
    named = variables.get(LEDGER_VARIABLE)
    if not named and variables.get(WITHHELD_VARIABLE):
        raise LedgerWithheld
    return named


def audit_place(snapshot: Snapshot, settings: RepoSettings, variables: Variables) -> AuditPlace:
    """The file that gets a line for every deletion.

    FEEDCTL_AUDIT, else `audit_file` of repo.yaml, else beside a SQLite ledger, else in the user's state folder. What
    the ledger needs besides its place need not be there: a run without the ledger has an audit file all the same.

    Raises:
        BadAuditFile: a relative path, and the config repo is an archive; or no path.
        OutsideAuditFile: the config repo names a file outside of itself, and does not accept that by name.
        UntrustedFile: it came with the config repo.
        MissingVariable: it refers to an environment variable that is not set.
    """
    named, root = variables.get(AUDIT_VARIABLE), _root(snapshot)
    if named:
        file = _audit_file(named, AUDIT_VARIABLE, root, variables)
    elif settings.audit_file:
        if outside_audit_file(settings):
            raise OutsideAuditFile(path=settings.audit_file)
        file = _audit_file(settings.audit_file, REPO_FILE, root, variables)
    else:
        file = _beside_ledger(snapshot, settings, variables) or state_folder(variables) / "audit.jsonl"
    _refuse_given(snapshot, file)
    return AuditPlace(file=file, below=root if root is not None and file.is_relative_to(root) else None)


def quality_folder(snapshot: Snapshot, settings: RepoSettings, variables: Variables) -> Path:
    """The folder of the pages about validation results, beside the audit file; errors are those of `audit_place`."""
    folder = audit_place(snapshot, settings, variables).file.with_name("quality")
    _refuse_given(snapshot, folder)
    return folder


def spool_file(snapshot: Snapshot, settings: RepoSettings, variables: Variables) -> Path:
    """Return where events wait: beside a SQLite ledger, else beside the audit file; errors as of `audit_place`."""
    beside = _beside_ledger(snapshot, settings, variables) or audit_place(snapshot, settings, variables).file
    file = beside.with_name("openlineage")
    for end in ("", ".1", ".sent", ".jsonl"):
        _refuse_given(snapshot, file.with_name(f"{file.name}{end}"))
    return file


def state_folder(variables: Variables) -> Path:
    """The user's folder for what feedctl keeps (XDG Base Directory, XDG_STATE_HOME); a relative one does not count."""
    configured = Path(variables.get("XDG_STATE_HOME", ""))
    return (configured if configured.is_absolute() else Path.home() / ".local" / "state") / "feedctl"


def _audit_file(text: str, named_by: str, root: Path | None, variables: Variables) -> Path:
    try:
        check_local_path(text)
        written = Path(expand_path(text, variables))
    except ElError as error:
        raise BadAuditFile(named_by=named_by, found=f"of {named_by} cannot be used: {error}") from None
    if root is None and not written.is_absolute():
        found = f"{written} of {named_by} is relative to the config repo, which is an archive"
        raise BadAuditFile(named_by=named_by, found=found)
    return Path(os.path.normpath((root or Path()) / written))


def _refuse_given(snapshot: Snapshot, file: Path) -> None:
    """Refuse a file in the config repo that its writers put there, or that a link of theirs leads away from."""
    own = [each for each in snapshot.problems if each.rule == _OWN_FILE]
    if own:
        raise ConfigError(problems=own)
    root = _root(snapshot)
    if root is None or not file.is_relative_to(root):
        return
    path = file.relative_to(root)
    if snapshot.id.kind is SnapshotKind.COMMIT and not snapshot.id.dirty and path.as_posix() in snapshot.names:
        raise UntrustedFile(path=str(path), found="is part of the config repo")
    for each in _steps(path):
        if (root / each).is_symlink():
            raise UntrustedFile(path=str(each), found="is a link")


def _steps(path: Path) -> Iterator[Path]:
    """The folders on the way to a file, and it."""
    yield from (each for each in reversed(path.parents) if each.parts)
    yield path


def _beside_ledger(snapshot: Snapshot, settings: RepoSettings, variables: Variables) -> Path | None:
    """Return the directory of the ledger; None: it is no file, or its path is unknown, and opening it says why."""
    try:
        file = location_of(snapshot, settings, variables).file
    except InvalidInput:
        return None
    return None if file is None else file.with_name(file.stem + _AUDIT_SUFFIX)


def _root(snapshot: Snapshot) -> Path | None:
    """The folder of the config repo; None: it is an archive."""
    return None if snapshot.id.kind is SnapshotKind.ARCHIVE else Path(os.path.normpath(Path.cwd() / snapshot.root))
