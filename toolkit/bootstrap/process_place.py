"""Where the steps of processes run on this machine: their scripts, logs and environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.errors import InvalidInput
from toolkit.process_runner.engines.step_log import log_directory, step_log

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


@dataclass(frozen=True, kw_only=True, slots=True)
class LocalPlace:
    """The `Workplace` of this machine.

    Attributes:
        root: of the config repo.
        variables: of this process.
    """

    root: Path
    variables: Mapping[str, str]

    @property
    def directory(self) -> Path:
        """See `Workplace.directory`: the config repo, so that a script finds what lies beside it."""
        return self.root if self.root.is_dir() else Path.cwd()

    def script(self, path: str) -> str:
        """See `Workplace.script`."""
        if _URI.match(path) or Path(path).is_absolute():
            return path
        if not self.root.is_dir():
            raise NoScript(
                path=path, why="scripts are not read out of an archive; unpack the config repo, or use a URI"
            )
        found = self.root / path
        if not found.is_file():
            raise NoScript(path=path, why=f"there is no file {found}")
        return str(found)

    def log(self, target: ProcessTarget, run_id: int, step: str) -> Path:
        """See `Workplace.log`."""
        run = (target.entity, target.cluster, target.instance_key, run_id)
        return step_log(log_directory(self.variables), run, step)

    def environment(self, target: ProcessTarget) -> Mapping[str, str]:
        """See `Workplace.environment`: that of this process."""
        del target
        return self.variables
