"""Makes a new config repo from a template: a folder of files that is a git repository from the start."""

from __future__ import annotations

import shutil
from pathlib import Path

from toolkit.config_source.errors import GitFailed
from toolkit.config_source.git import make_checkout, run_git
from toolkit.errors import InvalidInput

TEMPLATE_DATA_ROOT = "/tmp/feedctl-dev"  # noqa: S108 - a text in the template, not a file that is opened
"""The directory that a template's local files are below; `create_repo` puts another in its place."""

_NAME_THE_ROOT = ("environments/dev.yaml", "clusters/local.yaml")
"""The files that name it; a template has one of them."""

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


def _identity(target: Path) -> tuple[str, ...]:
    """An identity for the first commit where git has none."""
    try:
        run_git(target, ["config", "user.email"])
    except GitFailed:
        return _FALLBACK_IDENTITY
    return ()
