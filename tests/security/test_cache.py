"""Against whoever can write where the cache is, or fill it: only a file of the user alone, and whole, is used."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.config_source.checkouts import write
from tests.unit.config_source.test_entity_cache import MORE, content, loaded, only_file, was_cached
from tests.unit.entities.config_repo import FEED
from toolkit.config_source import entity_cache, from_directory
from toolkit.config_source.entity_cache import EntityCache
from toolkit.entities import load


@pytest.fixture
def cache(tmp_path: Path) -> EntityCache:
    return EntityCache(folder=tmp_path / "cache", fewest=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", MORE)


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-5] ^= 1
    file.write_bytes(data)


def _tear(file: Path) -> None:
    os.truncate(file, file.stat().st_size - 1)


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _share(file: Path) -> None:
    file.chmod(0o604)


def _give_away(file: Path) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file away")
    os.chown(file, 12345, -1)


def _link(file: Path) -> None:
    file.rename(file.parent.parent / "elsewhere")
    file.symlink_to(file.parent.parent / "elsewhere")


def _replace_by_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


def _replace_by_folder(file: Path) -> None:
    file.unlink()
    file.mkdir(0o700)


@pytest.mark.parametrize(
    "spoil", [_flip, _tear, _empty, _share, _give_away, _link, _replace_by_pipe, _replace_by_folder]
)
def test_a_file_that_something_is_wrong_with_is_not_used(
    cache: EntityCache, root: Path, spoil: Callable[[Path], None]
) -> None:
    fresh = loaded(cache, root)
    spoil(only_file(cache))
    again = loaded(cache, root)
    assert not was_cached(again)
    assert content(again) == content(fresh)


@pytest.mark.parametrize("spoil", [_flip, _tear, _share, _link, _replace_by_pipe])
def test_a_spoilt_file_is_replaced(cache: EntityCache, root: Path, spoil: Callable[[Path], None]) -> None:
    loaded(cache, root)
    spoil(only_file(cache))
    loaded(cache, root)
    assert was_cached(loaded(cache, root))
    assert only_file(cache).stat().st_mode & 0o777 == 0o600


def test_the_files_are_their_owners_alone(cache: EntityCache, root: Path) -> None:
    before = os.umask(0)
    try:
        loaded(cache, root)
    finally:
        os.umask(before)
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    assert only_file(cache).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o755])
def test_a_folder_that_others_may_enter_is_left_alone(cache: EntityCache, root: Path, mode: int) -> None:
    cache.folder.mkdir()
    cache.folder.chmod(mode)
    for _ in range(2):
        assert not was_cached(loaded(cache, root))
    assert list(cache.folder.iterdir()) == []


def test_a_folder_that_is_a_link_is_left_alone(cache: EntityCache, root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    cache.folder.symlink_to(tmp_path / "elsewhere")
    assert not was_cached(loaded(cache, root))
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_alias_is_not_written_out(cache: EntityCache, root: Path) -> None:
    more = "".join(f", p{number}: *text" for number in range(2000))
    write(root, {"feeds/web/clicks.yaml": FEED + f"properties: {{p: &text {'x' * 4000}{more}}}\n"})
    loaded(cache, root)
    assert only_file(cache).stat().st_size < 10_000
    cached = loaded(cache, root)
    assert was_cached(cached)
    assert content(cached) == content(load(from_directory(root)))


def test_a_file_that_would_be_large_is_not_written(
    cache: EntityCache, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entity_cache, "_MOST_BYTES", 100)
    loaded(cache, root)
    assert list(cache.folder.glob("*")) == []


def test_few_files_are_kept_those_used_last(cache: EntityCache, root: Path) -> None:
    loaded(cache, root)
    first = only_file(cache)
    os.utime(first, (0, 0))
    for number in range(12):
        write(root, {"repo.yaml": MORE["repo.yaml"] + f"description: '{number}'\n"})
        loaded(cache, root)
    assert len(list(cache.folder.iterdir())) == 8
    assert not first.exists()
