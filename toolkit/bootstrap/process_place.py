"""Place of the steps of processes on this machine: scripts, logs and environment."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.entities.repo import RepoSettings
from toolkit.errors import InvalidInput
from toolkit.process_runner.calls import Workplace
from toolkit.programs.log_folder import begin_log
from toolkit.programs.step_environment import step_environment
from toolkit.programs.step_log import StepRunName, log_directory, step_log

if TYPE_CHECKING:
    from toolkit.process_runner.targets import ProcessTarget

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


class NoScript(InvalidInput):
    """The script of a step is not to be had on this machine.

    Args:
        path: as the entity says.
        why: what was found instead.
    """

    def __init__(self, *, path: str, why: str) -> None:
        self.path, self.why = path, why
        super().__init__(f"the workflow {path}: {why}")


FileMark = tuple[int, int, int, int]
"""Identity, size and time of a file, which a checkout, an editor or a copy changes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalPlace(Workplace):
    """The `Workplace` of this machine.

    Attributes:
        root: of the config repo.
        variables: of this process.
        ledger: the identity of the ledger, which is in the paths of logs; empty: without a ledger no step runs.
        settings: of the config repo.
        read: what files of the config repo were when it was read, by path; None: there was none.
    """

    root: Path
    variables: Mapping[str, str]
    ledger: str
    settings: RepoSettings = field(default_factory=RepoSettings)
    read: Mapping[str, FileMark | None] = field(default_factory=dict, repr=False)

    def reading(self, paths: Iterable[str]) -> LocalPlace:
        """The same, where these files have to stay what they are now."""
        own = {path for path in paths if not _is_elsewhere(path)}
        return replace(self, read={path: _mark(self.root / path) for path in own})

    @override
    def is_as_read(self, path: str) -> bool:
        return path not in self.read or _mark(self.root / path) == self.read[path]

    @property
    @override
    def environment(self) -> Mapping[str, str]:
        return step_environment(self.variables)

    @property
    @override
    def directory(self) -> Path:
        """The config repo, so that a script finds the files beside it."""
        return self.root if self.root.is_dir() else Path.cwd()

    @override
    def script(self, path: str) -> str:
        if _is_elsewhere(path):
            return path
        if not self.root.is_dir():
            raise NoScript(
                path=path, why="scripts are not read out of an archive; unpack the config repo, or use a URI"
            )
        found = self.root / path
        if not found.is_file():
            raise NoScript(path=path, why=f"there is no file {found}")
        return str(found)

    @override
    def log(self, target: ProcessTarget, run_id: int, step: str) -> Path:
        name = StepRunName(
            ledger=self.ledger,
            process=target.entity,
            cluster=target.cluster,
            instance_key=target.instance_key,
            run_id=run_id,
            step=step,
        )
        return step_log(log_directory(self.variables), name)

    @override
    def session_owner(self, process: str) -> str | None:
        return self.settings.session_owner(process)

    @override
    def begin_log(self, log: Path) -> None:
        begin_log(log_directory(self.variables), log)


def _is_elsewhere(path: str) -> bool:
    return _URI.match(path) is not None or Path(path).is_absolute()


def _mark(file: Path) -> FileMark | None:
    try:
        found = file.stat()
    except OSError:
        return None
    if stat.S_ISDIR(found.st_mode):  # a script may leave compiled files in it
        return found.st_dev, found.st_ino, 0, 0
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
