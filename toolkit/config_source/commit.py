"""Snapshot of a commit of a git checkout."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from toolkit.config_source.git import TreeEntry, list_tree, object_sizes, read_commit, read_objects
from toolkit.config_source.snapshot import (
    MOST_TEXT,
    MOST_TEXTS,
    FileFilter,
    Snapshot,
    SnapshotId,
    SnapshotKind,
    is_text,
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
    files = _contents(path, [entry for entry in own if is_config_file(entry.path)])
    others = [entry for entry in own if entry.path not in files and keeps(entry.path)]
    texts = _contents(path, list(_small(others, object_sizes(path, [entry.object for entry in others]))))
    return Snapshot(
        root=str(path),
        files=files,
        names=frozenset(entry.path for entry in entries) - files.keys(),
        texts={name: each for name, each in texts.items() if is_text(each)},
        id=SnapshotId(kind=SnapshotKind.COMMIT, value=commit.id, committed_at=commit.committed_at),
        problems=(
            *(_refused(entry) for entry in entries if not _is_file(entry) and is_config_place(entry.path)),
            *own_files([entry.path for entry in entries]),
        ),
    )


def _contents(path: Path, entries: Sequence[TreeEntry]) -> dict[str, bytes]:
    contents = read_objects(path, [entry.object for entry in entries]) if entries else ()
    return {entry.path: content for entry, content in zip(entries, contents, strict=True)}


def _small(entries: Iterable[TreeEntry], sizes: Mapping[str, int]) -> Iterator[TreeEntry]:
    """Yield the files that a snapshot keeps, of those that the checkout has: git may have packed a text of zeros."""
    left = MOST_TEXTS
    for entry in entries:
        size = sizes.get(entry.object, MOST_TEXTS)
        if size <= min(MOST_TEXT, left):
            left -= size
            yield entry


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
