"""The files that `feedctl lint` is told about: those of interest, and the baseline."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from toolkit.cli.printing import encoded
from toolkit.config_source import Snapshot, read_file
from toolkit.errors import Failed, InvalidInput
from toolkit.linter.baseline import BadBaseline, Baseline, BaselineEntry


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
        target = Path(self.name)
        beside = target.with_name(f".{target.name}.new")
        try:
            beside.unlink(missing_ok=True)  # a link of this name must not say what is written
            with beside.open("xb") as file:
                file.write(encoded(Baseline(file=self.name, entries=entries).text()))
            beside.replace(target)
        except OSError as error:
            raise BaselineNotWritten(file=self.name, reason=error.strerror or str(error)) from error
