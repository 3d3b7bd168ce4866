"""Makes a new config repo from a template, a git repository from the start, and new files in one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from toolkit.config_source.errors import GitFailed
from toolkit.config_source.git import make_checkout, run_git
from toolkit.errors import InvalidInput

TEMPLATE_DATA_ROOT = "/tmp/feedctl-dev"  # noqa: S108 - a text in the template, not a file that is opened
"""The directory that a template's local files are below; `create_repo` puts another in its place."""

_NAME_THE_ROOT = ("environments/dev.yaml", "environments/pair.yaml", "clusters/local.yaml")
"""The files that name it; a template has some of them."""

_FALLBACK_IDENTITY = ("-c", "user.name=feedctl", "-c", "user.email=feedctl@localhost")


class TargetNotEmpty(InvalidInput):
    """The folder for a new config repo has something in it.

    Args:
        path: the folder.
    """

    def __init__(self, *, path: str) -> None:
        self.path = path
        super().__init__(f"{path} is not an empty directory; name one that does not exist yet, or is empty")


def create_repo(template: Path, target: Path, data_root: Path) -> None:
    """Copy the template and commit it.

    Args:
        template: a folder of files.
        target: does not exist, or is an empty directory.
        data_root: absolute; the directory of the local data.

    Raises:
        TargetNotEmpty: there is something at the target.
        GitFailed: git is missing, or failed.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise TargetNotEmpty(path=str(target))
    shutil.copytree(template, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    for file in filter(Path.exists, map(target.joinpath, _NAME_THE_ROOT)):
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(TEMPLATE_DATA_ROOT, data_root.as_posix()), encoding="utf-8")
    make_checkout(target)
    run_git(target, ["add", "--all"])
    run_git(target, [*_identity(target), "commit", "--quiet", "--message", "Config repo from feedctl's template"])


class FileThere(InvalidInput):
    """A new file's place in the config repo is taken, or not in it.

    Args:
        path: of the file.
        reason: what stands against it.
    """

    def __init__(self, *, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be made: {reason}")


def add_files(root: Path, texts: Mapping[str, str]) -> None:
    """Write new files into a config repo; none when the place of one is taken.

    Args:
        root: the config repo, a directory.
        texts: by path below the root; one that begins with ``#!`` may be run.

    Raises:
        FileThere: there is something at a place, a folder above it is a link, or the folder may not be written.
    """
    for name in texts:
        path = root / name
        if os.path.lexists(path):
            raise FileThere(path=str(path), reason="it exists already")
        if path.parent.resolve() != root.resolve() / Path(name).parent:
            raise FileThere(path=str(path), reason=f"{path.parent} is a link")
    for name, text in texts.items():
        path = root / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
            if text.startswith("#!"):
                path.chmod(path.stat().st_mode | 0o111)
        except OSError as error:
            raise FileThere(path=str(path), reason=error.strerror or str(error)) from error


def _identity(target: Path) -> tuple[str, ...]:
    """An identity for the first commit where git has none."""
    try:
        run_git(target, ["config", "user.email"])
    except GitFailed:
        return _FALLBACK_IDENTITY
    return ()
