"""Listings of what is copied, compared without being held."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import eq
from pathlib import Path

import pytest

from toolkit.el import CanonicalPath
from toolkit.storage import Entry, FileKind, NotFound
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.transfer.trees import TreeFile, is_still, read_tree, same_bytes, same_content

Same = Callable[[TreeFile, TreeFile], bool]


def nothing() -> None:
    """Nothing stands against it."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory with two files and a directory."""
    (tmp_path / "deep").mkdir()
    for name in ("a", "deep/b", ".feedctl-own"):
        (tmp_path / name).write_text("abc")
    return tmp_path


def change(root: Path, how: str) -> None:
    """Do something to the directory."""
    if how == "more":
        (root / "c").touch()
    elif how == "less":
        (root / "deep/b").unlink()
    elif how == "larger":
        (root / "a").write_text("abcd")
    elif how == "another kind":
        (root / "a").unlink()
        (root / "a").mkdir()
    elif how == "another name":
        (root / "a").rename(root / "z")
    elif how == "own name":
        (root / ".feedctl-other").touch()


@pytest.mark.parametrize("how", ["", "own name", "more", "less", "larger", "another kind", "another name"])
@pytest.mark.parametrize("is_same", [same_bytes, eq], ids=["by size", "by size and time"])
def test_a_directory_is_compared_with_a_listing_as_two_listings_are(root: Path, how: str, is_same: Same) -> None:
    system, path = LocalFileSystem(), CanonicalPath.parse(f"file://{root}")
    before = read_tree(system, path, nothing, directories=True)
    assert before is not None
    assert before.keys() == {"a", "deep", "deep/b"}
    change(root, how)
    found = is_still(system, path, nothing, before, directories=True, is_same=is_same)
    assert found is (how in {"", "own name"})
    assert found is same_content(before, read_tree(system, path, nothing, directories=True))


def test_a_directory_that_is_gone_is_not_an_empty_one(tmp_path: Path) -> None:
    gone = CanonicalPath.parse(f"file://{tmp_path}/gone")
    assert not is_still(LocalFileSystem(), gone, nothing, {}, directories=True, is_same=eq)
    (tmp_path / "gone").mkdir()
    assert is_still(LocalFileSystem(), gone, nothing, {}, directories=True, is_same=eq)
    assert not is_still(LocalFileSystem(), gone, nothing, {"a": TreeFile(FileKind.FILE)}, directories=True, is_same=eq)


class Vanishing(LocalFileSystem):
    """A disk on which a directory goes away after the one above it was listed."""

    def list(self, path: CanonicalPath, *, start_from: str = "") -> Iterator[Entry]:
        for entry in super().list(path, start_from=start_from):
            if entry.name == "gone":
                Path(path.path, entry.name).rmdir()
            yield entry


def test_a_directory_that_goes_away_in_the_middle_does_not_make_all_of_it_nothing(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "stays").write_text("x")
    root = CanonicalPath.parse(f"file://{tmp_path}")
    with pytest.raises(NotFound):
        read_tree(Vanishing(), root, nothing, directories=True)
    assert set(read_tree(Vanishing(), root, nothing, directories=True) or {}) == {"stays"}
