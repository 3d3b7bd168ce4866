"""Snapshot of a commit of a git checkout."""

from pathlib import Path

from toolkit.config_source.git import TreeEntry, list_tree, read_commit, read_objects
from toolkit.config_source.snapshot import (
    MOST_TEXT,
    FileFilter,
    Snapshot,
    SnapshotId,
    SnapshotKind,
    no_other_file,
)
from toolkit.entities.problems import ConfigProblem
from toolkit.entities.source_files import is_config_file, is_config_place, own_files

_LINK = "120000"
_SUBMODULE = "160000"


def from_git(path: Path, ref: str = "HEAD", keeps: FileFilter = no_other_file) -> Snapshot:
    """Reads the config repo at a directory of a git checkout, as it is in a commit; the working tree is not looked at.

    Args:
        path: the checkout's top directory or one below it.
        ref: what names the commit.
        keeps: other files whose content is kept.

    Raises:
        NoCommit: nothing has that name.
        GitFailed: git failed.
    """
    commit = read_commit(path, ref)
    entries = list_tree(path, commit.id)
    own = [entry for entry in entries if _is_file(entry)]
    wanted = [entry for entry in own if is_config_file(entry.path) or keeps(entry.path)]
    contents = read_objects(path, [entry.object for entry in wanted])
    found = {entry.path: content for entry, content in zip(wanted, contents, strict=True)}
    files = {name: content for name, content in found.items() if is_config_file(name)}
    return Snapshot(
        root=str(path),
        files=files,
        names=frozenset(entry.path for entry in entries) - files.keys(),
        texts={name: each for name, each in found.items() if name not in files and len(each) <= MOST_TEXT},
        id=SnapshotId(kind=SnapshotKind.COMMIT, value=commit.id, committed_at=commit.committed_at),
        problems=(
            *(_refused(entry) for entry in entries if not _is_file(entry) and is_config_place(entry.path)),
            *own_files([entry.path for entry in entries]),
        ),
    )


def _is_file(entry: TreeEntry) -> bool:
    return entry.mode not in {_LINK, _SUBMODULE}


def _refused(entry: TreeEntry) -> ConfigProblem:
    what = "a link" if entry.mode == _LINK else "a submodule"
    return ConfigProblem(
        file=entry.path,
        rule="symlink" if entry.mode == _LINK else "submodule",
        message=f"found {what}, expected a file: a commit does not hold what it points to",
        hint="commit the content itself",
    )
