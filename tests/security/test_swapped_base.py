"""Nothing outside of a feed's base goes when the base is exchanged between the plan and the deletions.

Against: whoever may write the directory above a base (a colleague's scratch area, a shared parent), and exchanges it
for a link or for another directory; or has it reached through a link of their own. Not against the user of the run, nor
root.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import pytest

from tests.security.local_data import bind_mounted, files_below, place, tree
from tests.unit.retention.feeds import FeedText, cluster, run
from toolkit.bootstrap.storages import StoreChoice
from toolkit.retention import SharedDataIndex
from toolkit.storage import (
    BaseBehindLink,
    BaseChanged,
    Bases,
    ContentSummary,
    LocalFileSystem,
    NotFound,
    RealPlaces,
    StorageError,
    StorageFailure,
    SymlinkRefused,
)

_SOMEBODY = 4711


def _system(*bases: Path, trusted: tuple[Path, ...] = ()) -> LocalFileSystem:
    known = frozenset(str(base) for base in bases)
    return LocalFileSystem(bases=Bases(known=known, trusted_links=frozenset(map(str, trusted))))


def _link(at: Path, to: Path, owner: int = 0) -> None:
    at.symlink_to(to)
    if os.geteuid() == 0:
        os.chown(at, owner, owner, follow_symlinks=False)
    elif owner:
        pytest.skip("only root may give a link to somebody else")


def _for_a_link(base: Path, other: Path) -> None:
    base.rename(base.with_name("moved"))
    base.symlink_to(other)


def _for_a_directory(base: Path, other: Path) -> None:
    base.rename(base.with_name("moved"))
    other.rename(base)


def _above_for_a_link(base: Path, other: Path) -> None:
    base.parent.rename(base.parent.with_name("moved"))
    base.parent.symlink_to(other.parent)
    other.rename(other.with_name(base.name))


SWAPS = [_for_a_link, _for_a_directory, _above_for_a_link]


@pytest.mark.parametrize("swap", SWAPS)
def test_a_base_that_is_exchanged_after_the_plan_loses_nothing(
    tmp_path: Path, swap: Callable[[Path, Path], None]
) -> None:
    base = tree(tmp_path / "shared" / "base", "2026/01/part", "2026/02/part")
    other = tree(tmp_path / "others" / "precious", "2026/01/part")
    system = _system(base)
    assert [entry.name for entry in system.list(place(base))] == ["2026"]
    swap(base, other)
    path = place(base / "2026" / "01")
    for effect in (system.delete, system.remove_if_empty):
        with pytest.raises(BaseChanged) as caught:
            effect(path, below=place(base))
        assert not caught.value.retriable
    (answer,) = system.delete_all([path], below=place(base))
    assert isinstance(answer.error, BaseChanged)
    assert [name for name in files_below(tmp_path) if name.endswith("01/part")] != []
    assert len(files_below(tmp_path)) == 3


@pytest.mark.parametrize("swap", SWAPS)
def test_no_look_below_an_exchanged_base_tells_anything(tmp_path: Path, swap: Callable[[Path, Path], None]) -> None:
    """Else what is not in the other tree would be taken for gone, and written down as evicted."""
    base = tree(tmp_path / "shared" / "base", "2026/01/part", "2027/part")
    other = tree(tmp_path / "others" / "precious", "2026/01/part")
    system = _system(base)
    list(system.list(place(base)))
    swap(base, other)
    for look in (system.status, system.content_summary, lambda path: list(system.list(path))):
        with pytest.raises(BaseChanged):
            look(place(base / "2027"))


def test_a_base_that_is_gone_does_not_make_its_instances_gone(tmp_path: Path) -> None:
    base = tree(tmp_path / "shared" / "base", "2026/part")
    system = _system(base)
    list(system.list(place(base)))
    base.rename(tmp_path / "moved")
    for look in (
        lambda: system.status(place(base / "2026")),
        lambda: system.delete(place(base / "2026"), below=place(base)),
    ):
        with pytest.raises(BaseChanged, match="it is gone"):
            look()
    assert files_below(tmp_path / "moved") == ["2026/part"]


def test_a_base_that_is_not_there_yet_is_no_error_of_its_own(tmp_path: Path) -> None:
    system = _system(tmp_path / "base")
    with pytest.raises(NotFound):
        list(system.list(place(tmp_path / "base")))
    tree(tmp_path / "base", "2026/part")
    system.delete(place(tmp_path / "base" / "2026"), below=place(tmp_path / "base"))
    assert files_below(tmp_path) == []


def test_a_nested_base_is_known_by_itself(tmp_path: Path) -> None:
    outer = tree(tmp_path / "outer", "a/inner/2026/part")
    inner, other = outer / "a" / "inner", tree(tmp_path / "precious", "2026/part")
    system = _system(outer, inner)
    for base in (outer, inner):
        list(system.list(place(base)))
    _for_a_directory(inner, other)
    with pytest.raises(BaseChanged):
        system.delete(place(inner / "2026"), below=place(inner))
    assert len(files_below(tmp_path)) == 2


def test_a_base_that_nobody_named_is_known_from_the_first_removal_on(tmp_path: Path) -> None:
    base, other = tree(tmp_path / "base", "2026/part", "2027/part"), tree(tmp_path / "precious", "2027/part")
    system = LocalFileSystem()
    system.delete(place(base / "2026"), below=place(base))
    _for_a_link(base, other)
    with pytest.raises(BaseChanged):
        system.delete(place(base / "2027"), below=place(base))
    assert files_below(other) == ["2027/part"]


@pytest.mark.parametrize("owner", [0, _SOMEBODY], ids=["root", "somebody"])
def test_a_base_that_is_a_link_is_refused_unless_it_is_named(tmp_path: Path, owner: int) -> None:
    disk, base = tree(tmp_path / "disk", "2026/part"), tmp_path / "base"
    _link(base, disk, owner)
    for look in (lambda system: list(system.list(place(base))), lambda system: system.status(place(base / "x"))):
        with pytest.raises(BaseBehindLink, match=f"{base} is one.*trusted_links"):
            look(_system(base))
    with pytest.raises(BaseBehindLink):
        LocalFileSystem().delete(place(base / "2026"), below=place(base))
    assert files_below(disk) == ["2026/part"]
    _system(base, trusted=(base,)).delete(place(base / "2026"), below=place(base))
    assert files_below(disk) == []


@pytest.mark.parametrize("target", ["disk", "../{name}/disk", "{root}/disk"])
def test_a_link_of_somebody_else_on_the_way_is_refused_and_one_of_root_is_followed(tmp_path: Path, target: str) -> None:
    tree(tmp_path / "disk", "base/2026/part")
    link = tmp_path / "data"
    _link(link, Path(target.format(name=tmp_path.name, root=tmp_path)), _SOMEBODY)
    base = link / "base"
    with pytest.raises(BaseBehindLink, match=f"{link} is one, of {_SOMEBODY}"):
        list(_system(base).list(place(base)))
    assert [entry.name for entry in _system(base, trusted=(link,)).list(place(base))] == ["2026"]
    os.chown(link, 0, 0, follow_symlinks=False)
    system = _system(base)
    system.delete(place(base / "2026"), below=place(base))
    assert files_below(tmp_path / "disk") == []


def test_a_trusted_link_that_is_turned_elsewhere_after_the_plan_is_noticed(tmp_path: Path) -> None:
    disk, other, base = tree(tmp_path / "disk", "2026/part"), tree(tmp_path / "other", "2026/part"), tmp_path / "base"
    _link(base, disk)
    system = _system(base, trusted=(base,))
    list(system.list(place(base)))
    base.unlink()
    _link(base, other)
    with pytest.raises(BaseChanged):
        system.delete(place(base / "2026"), below=place(base))
    assert files_below(other) == ["2026/part"]


def test_links_that_lead_in_a_circle_are_an_error_of_the_storage(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(SymlinkRefused):
        list(_system(tmp_path / "one" / "base").list(place(tmp_path / "one" / "base")))


def test_a_directory_below_the_base_that_becomes_a_link_is_not_looked_into(tmp_path: Path) -> None:
    base = tree(tmp_path / "base", "2026/01/part")
    tree(tmp_path / "precious", "01/part")
    system = _system(base)
    list(system.list(place(base)))
    _for_a_link(base / "2026", tmp_path / "precious")
    for look in (system.status, system.content_summary, lambda path: list(system.list(path))):
        with pytest.raises(SymlinkRefused):
            look(place(base / "2026" / "01"))


def test_a_file_below_the_base_is_weighed_and_a_link_is_not(tmp_path: Path) -> None:
    base = tree(tmp_path / "base", "a/b/one", "a/two", "three")
    (base / "a" / "link").symlink_to(tmp_path)
    system = _system(base)
    assert system.content_summary(place(base)) == ContentSummary(files=3, directories=3, size=3)
    assert system.content_summary(place(base / "three")) == ContentSummary(files=1, directories=0, size=1)
    assert system.content_summary(place(base / "a" / "link")) == ContentSummary(files=0, directories=0, size=0)


def _deep_tree(base: Path, levels: int) -> None:
    directory = os.open(base / "2026", os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=directory)
        inner = os.open("d", os.O_RDONLY, dir_fd=directory)
        os.close(directory)
        directory = inner
    os.close(os.open("leaf", os.O_CREAT | os.O_WRONLY, dir_fd=directory))
    os.close(directory)


@pytest.mark.extended
@pytest.mark.parametrize("is_known", [True, False])
def test_a_tree_of_a_thousand_levels_is_weighed_and_removed(tmp_path: Path, *, is_known: bool) -> None:
    """Deeper than the open files of a process."""
    base = tree(tmp_path / "base", "2026/part")
    _deep_tree(base, 990)
    system = _system(base) if is_known else LocalFileSystem()
    assert system.content_summary(place(base / "2026")) == ContentSummary(files=2, directories=991, size=1)
    system.delete(place(base / "2026"), below=place(base))
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("is_known", [True, False])
def test_a_deeper_tree_is_refused(tmp_path: Path, *, is_known: bool) -> None:
    """Deeper than Python's recursion."""
    base = tree(tmp_path / "base", "2026/part")
    _deep_tree(base, 1100)
    system = _system(base) if is_known else LocalFileSystem()
    try:
        with pytest.raises(StorageFailure, match="more than 1,000 levels deep"):
            system.content_summary(place(base / "2026"))
    finally:
        subprocess.run(["/bin/rm", "-r", base], check=True)  # pytest removes no tree as deep as this


def _neighbours(data: Path, others: str) -> list[str]:
    clicks = FeedText(data=f"{data}/${{YEAR}}/${{MONTH}}/${{DAY}}").feed()
    other = FeedText(name="other", data=f"{others}/${{YEAR}}/${{MONTH}}/${{DAY}}").feed()
    known = SharedDataIndex(feeds=(clicks, other), clusters=(cluster(),), real=RealPlaces().of)
    at_once = RealPlaces().of_all([str(data), others])
    assert (at_once[str(data)] == at_once[others]) is (known.real(place(data)) == known.real(place(Path(others))))
    return [each.feed for each in known.of(clicks, cluster())]


def test_many_places_are_resolved_at_once_as_one_by_one(tmp_path: Path) -> None:
    disk = tree(tmp_path / "disk", "a/b/part", "c/part")
    (tmp_path / "to_disk").symlink_to(disk)
    (disk / "to_a").symlink_to(disk / "a")
    (disk / "to_nothing").symlink_to(tmp_path / "absent" / "x")
    (disk / "loop").symlink_to(disk / "loop")
    names = [
        "a",
        "a/b",
        "to_a",
        "to_a/b",
        "to_a/absent/x",
        "to_nothing",
        "to_nothing/y",
        "loop",
        "loop/x",
        "c/part/x",
        "",
    ]
    paths = ["/", "/absent", *(f"{tmp_path}/{top}/{name}".rstrip("/") for top in ("to_disk", "disk") for name in names)]
    one_by_one = RealPlaces()
    assert RealPlaces().of_all(paths) == {path: one_by_one.of(place(Path(path))).path for path in paths}


def test_a_feed_behind_a_link_shares_the_data_that_the_link_leads_to(tmp_path: Path) -> None:
    disk = tree(tmp_path / "disk", "clicks/2026/03/01/part")
    (tmp_path / "data").symlink_to(disk)
    (tmp_path / "alias").symlink_to(disk / "clicks")
    for others in (tmp_path / "data" / "clicks", tmp_path / "alias"):
        assert _neighbours(disk / "clicks", str(others)) == ["other"]
    assert _neighbours(disk / "clicks", str(tmp_path / "data" / "views")) == []


def test_a_feed_that_calls_the_data_of_another_its_statistics_does_not_stop_the_deletions_of_all(
    tmp_path: Path,
) -> None:
    """A location without dates is one place; both feeds' holds count for the data in it."""
    (tmp_path / "alias").symlink_to(tree(tmp_path / "disk", "clicks/2026/03/01/part"))
    clicks = FeedText(data=f"{tmp_path}/disk/clicks/${{YEAR}}/${{MONTH}}/${{DAY}}").feed()
    for stats in (f"{tmp_path}/disk/clicks", f"{tmp_path}/alias/clicks", f"{tmp_path}/disk"):
        other = FeedText(name="other", data="/elsewhere/${YEAR}/${MONTH}/${DAY}", others={"stats": stats}).feed()
        known = SharedDataIndex(feeds=(clicks, other), clusters=(cluster(),), real=RealPlaces().of)
        assert [each.feed for each in known.of(clicks, cluster())] == ["other"]
        assert [each.feed for each in known.of(other, cluster())] == ["clicks"]


def test_a_base_that_is_mounted_in_two_places_is_one(tmp_path: Path) -> None:
    disk = tree(tmp_path / "disk", "2026/03/01/part")
    (tmp_path / "bound").mkdir()
    with bind_mounted(disk, tmp_path / "bound", tmp_path):
        assert _neighbours(disk, str(tmp_path / "bound")) == ["other"]
    assert _neighbours(disk, str(tmp_path / "bound")) == []


def test_a_change_is_told_by_its_code_and_what_to_do() -> None:
    assert issubclass(BaseChanged, StorageError)
    assert BaseChanged(path=place(Path("/data"))).code == "base_changed"
    assert "run again" in str(BaseChanged(path=place(Path("/data"))))


@pytest.mark.parametrize("swap", SWAPS)
def test_a_run_whose_base_is_exchanged_in_its_first_effect_deletes_nothing_else(
    tmp_path: Path, swap: Callable[[Path, Path], None]
) -> None:
    """What is in hand goes, wherever its directory is now: one instance a thread. All else stays, as does the other."""
    instances = [f"2026/02/{day:02d}/part" for day in range(1, 13)]
    base = tree(tmp_path / "shared" / "base", *instances)
    other = tree(tmp_path / "others" / "precious", *instances)
    swaps, first = [swap], Lock()

    def attack() -> None:
        with first:
            if swaps:
                swaps.pop()(base, other)

    feed = FeedText(data=f"{base}/${{YEAR}}/${{MONTH}}/${{DAY}}")
    storages = StoreChoice(pairs=[(feed.feed(), cluster())]).shared().bound(attack)
    result = run(storages.of(place(base)), feed)
    ends = [(str(item.outcome), item.code) for item in result.items if item.item.type == "instance"]
    done = ends.count(("done", ""))
    assert 1 <= done <= LocalFileSystem.capabilities.parallel
    assert ends.count(("failed", "base_changed")) == len(instances) - done
    left = [name.partition("2026/")[0] for name in files_below(tmp_path)]
    assert sorted(map(left.count, set(left))) == [len(instances) - done, len(instances)]


def test_the_links_that_repo_yaml_names_are_followed(tmp_path: Path) -> None:
    disk, base = tree(tmp_path / "disk", "2026/03/01/part"), tmp_path / "base"
    _link(base, disk, _SOMEBODY)
    feed = FeedText(data=f"{base}/${{YEAR}}/${{MONTH}}/${{DAY}}")
    for trusted, left in ((), ["2026/03/01/part"]), ((str(base),), []):
        choice = StoreChoice(pairs=[(feed.feed(), cluster())], trusted_links=trusted)
        storages = choice.shared().bound(lambda: None)
        result = run(storages.of(place(base)), feed)
        assert files_below(disk) == left
        (of_feed,) = result.targets
        assert (of_feed.plan.failed is None) is bool(trusted)
