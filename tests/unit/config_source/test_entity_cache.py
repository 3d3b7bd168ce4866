"""The cache of merged entities gives what loading gives, and is used only where nothing speaks against it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.generate_repo import generate
from tests.unit.config_source.checkouts import checkout, write
from tests.unit.entities.config_repo import BASE, FEED
from toolkit.config_source import entity_cache, from_directory, from_git, open_snapshot
from toolkit.config_source.entity_cache import EntityCache, cache_of
from toolkit.entities import ConfigError, Repository, UnknownName, load
from toolkit.entities.parsing import OnDemand

ROOT = Path(__file__).resolve().parents[3]
MORE = {
    **BASE,
    "repo.yaml": "name: web-feeds\nenvironments: [dev, prod]\ndefault_environment: dev\n",
    "defaults.yaml": "feed: {owner: a@example.com, tags: {tier: gold}}\n",
    "feeds/web/defaults.yaml": "feed: {tags: {team: web}}\n",
    "feeds/web/clicks.yaml": FEED.replace("{limit: days(10)}", "&limit {limit: days(10)}"),
    "environments/dev.yaml": (
        "entities: {clicks: {owner: dev@example.com, properties: {rate: 0.1, big: 12345678901234567890}}}\n"
    ),
    "environments/prod.yaml": "repo: {max_delete: {instances: 7}}\n",
    "holds.yaml": "holds: [{feed: clicks, reason: audit}]\n",
}
del MORE["feeds/clicks.yaml"]


@pytest.fixture
def cache(tmp_path: Path) -> EntityCache:
    return EntityCache(folder=tmp_path / "cache", fewest=1)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "repo", MORE)


def loaded(cache: EntityCache, root: Path, environment: str | None = None) -> Repository:
    return cache.load(from_directory(root), environment)


def was_cached(repository: Repository) -> bool:
    return isinstance(repository.entries, OnDemand)


def only_file(cache: EntityCache) -> Path:
    (file,) = cache.folder.iterdir()
    return file


def content(repository: Repository) -> Mapping[str, object]:
    """Everything that a repository says."""
    return {
        "kinds": [repository.clusters, repository.feeds, repository.processes, repository.datasources],
        "order": [list(repository.feeds), list(repository.processes)],
        "settings": [repository.settings, repository.environment, repository.environments, repository.holds],
        "graph": repository.graph,
        "merged": {name: repr(repository.merged(name)) for name in sorted(repository.entries)},
        "origins": {name: repository.origins(name) for name in sorted(repository.entries)},
        "files": {name: repository.file_of(name) for name in sorted(repository.entries)},
        "entities": list(repository.entities()),
        "suites": dict(repository.suites),
    }


@pytest.mark.parametrize("environment", [None, "dev", "prod"])
def test_what_was_cached_says_what_loading_says(cache: EntityCache, root: Path, environment: str | None) -> None:
    fresh = loaded(cache, root, environment)
    cached = loaded(cache, root, environment)
    assert (was_cached(fresh), was_cached(cached)) == (False, True)
    assert content(cached) == content(fresh)


@pytest.mark.parametrize("environment", [None, "dev", "prod"])
def test_the_template_and_a_large_repo_say_the_same_from_the_cache(
    cache: EntityCache, tmp_path: Path, environment: str | None
) -> None:
    generate(tmp_path / "generated", 150)
    for root in (ROOT / "config_repo_template", *([tmp_path / "generated"] if environment is None else [])):
        loaded(cache, root, environment)
        cached = loaded(cache, root, environment)
        assert was_cached(cached)
        assert content(cached) == content(load(from_directory(root), environment))


def test_another_suite_is_seen(cache: EntityCache, root: Path) -> None:
    write(root, {"expectations/clicks.json": '{"expectations": [{"type": "expect_a"}]}'})
    assert not was_cached(loaded(cache, root))
    assert [each.type for each in loaded(cache, root).suites["clicks"].expectations] == ["expect_a"]
    write(root, {"expectations/clicks.json": '{"expectations": [{"type": "expect_b"}]}'})
    changed = loaded(cache, root)
    assert not was_cached(changed)
    assert [each.type for each in changed.suites["clicks"].expectations] == ["expect_b"]


def test_one_entity_is_read_without_the_others(cache: EntityCache, root: Path) -> None:
    loaded(cache, root)
    cached = loaded(cache, root)
    assert cached.feed("clicks").owner == "dev@example.com"
    assert isinstance(cached.entries, OnDemand)
    assert list(cached.entries._made) == ["clicks"]  # noqa: SLF001 - that nothing else was made is the point


def test_each_environment_has_its_own_and_an_unknown_one_none(cache: EntityCache, root: Path) -> None:
    for environment in (None, "dev", "prod"):
        assert not was_cached(loaded(cache, root, environment))
    assert len(list(cache.folder.iterdir())) == 3
    for _ in range(2):
        with pytest.raises(UnknownName):
            loaded(cache, root, "test")


def test_a_repo_with_a_problem_is_never_cached_and_says_so_every_time(cache: EntityCache, root: Path) -> None:
    write(root, {"feeds/views.yaml": "kind: feed\nname: views\n"})
    with pytest.raises(ConfigError) as first:
        loaded(cache, root)
    with pytest.raises(ConfigError) as second:
        loaded(cache, root)
    assert str(first.value) == str(second.value)
    assert not cache.folder.exists()


@pytest.mark.parametrize("name", ["feed/views.yaml", "feeds/views.yml", "x/HEAD"])
def test_a_name_that_is_a_problem_is_seen_though_no_content_changed(cache: EntityCache, root: Path, name: str) -> None:
    write(root, {"x/objects/a": "", "x/refs/a": ""})
    loaded(cache, root)
    write(root, {name: "x"})
    with pytest.raises(ConfigError):
        loaded(cache, root)


def test_another_content_of_the_same_size_and_time_is_seen(cache: EntityCache, root: Path) -> None:
    file = root / "feeds/web/clicks.yaml"
    before = file.stat()
    loaded(cache, root)
    file.write_text(file.read_text().replace("days(10)", "days(99)"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    changed = loaded(cache, root)
    assert not was_cached(changed)
    retention = changed.feed("clicks").clusters[0].retention
    assert retention is not None
    assert str(retention.limit) == "days(99)"


def test_a_commit_and_a_directory_of_the_same_content_share_a_file(cache: EntityCache, tmp_path: Path) -> None:
    root = checkout(tmp_path / "checkout", MORE)
    assert not was_cached(cache.load(from_git(root), None))
    assert was_cached(cache.load(open_snapshot(root), None))
    assert was_cached(loaded(cache, root))


def test_another_version_of_feedctl_loads_anew(cache: EntityCache, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(cache, root)
    monkeypatch.setattr("toolkit.__version__", "0.0.0")
    assert not was_cached(loaded(cache, root))


def test_another_code_of_feedctl_loads_anew(cache: EntityCache, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded(cache, root)
    copy = cache.folder.parent / "toolkit"
    for package in ("config_source", "el", "entities"):
        shutil.copytree(ROOT / "toolkit" / package, copy / package)
    monkeypatch.setattr(entity_cache, "_HERE", copy)
    loaded(cache, root)
    assert was_cached(loaded(cache, root))
    os.utime(copy / "entities" / "schemas" / "feed.json", (0, 0))
    assert not was_cached(loaded(cache, root))


def test_a_feedctl_that_is_no_folder_has_no_cache(
    cache: EntityCache, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entity_cache, "_HERE", Path("/nowhere/feedctl.zip/toolkit"))
    for _ in range(2):
        assert not was_cached(loaded(cache, root))
    assert not cache.folder.exists()


@pytest.mark.parametrize("place", ["/dev/null/feedctl", "/proc/feedctl", "/nowhere\0/feedctl"])
def test_a_folder_that_cannot_be_made_is_no_fault(root: Path, place: str) -> None:
    cache = EntityCache(folder=Path(place), fewest=1)
    assert loaded(cache, root).feed("clicks").name == "clicks"


def test_a_small_repo_is_loaded_without_a_file(cache: EntityCache, root: Path) -> None:
    larger = replace(cache, fewest=5)
    for _ in range(2):
        assert not was_cached(loaded(larger, root))
    assert not cache.folder.exists()


def test_the_users_folder_is_where_caches_are() -> None:
    assert cache_of({"HOME": "/home/a"}) == EntityCache(folder=Path("/home/a/.cache/feedctl/entities"))
    assert cache_of({"HOME": "/home/a", "XDG_CACHE_HOME": "/c"}) == EntityCache(folder=Path("/c/feedctl/entities"))
    assert cache_of({"HOME": "/home/a", "XDG_CACHE_HOME": "c"}) == EntityCache(
        folder=Path("/home/a/.cache/feedctl/entities")
    )
    assert cache_of({"HOME": "/home/a", "FEEDCTL_NO_CACHE": "1"}) is None
    assert cache_of({"HOME": "home"}) is None
    assert cache_of({}) is None


def test_what_is_not_its_own_is_never_forgotten(cache: EntityCache, root: Path) -> None:
    cache.folder.mkdir(mode=0o700)
    others = [cache.folder / f"feed{number}.yaml" for number in range(20)]
    for each in others:
        each.touch()
    loaded(cache, root)
    assert all(each.exists() for each in others)
