"""Two runs on one exchange, and renames that the store refuses: no mixture becomes visible, and no unit stays away."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.replication.test_exchange import NEW, OLD, Site, older
from toolkit.actions.attempt import UNKNOWN
from toolkit.actions.guard import Guard
from toolkit.actions.publication import recover
from toolkit.el import CanonicalPath
from toolkit.replication.errors import TargetChanged
from toolkit.replication.targets import CopyRules
from toolkit.runs.errors import Stopped
from toolkit.runs.stop import NeverStopped
from toolkit.storage import NotFound, PermissionDenied, StorageError, Unreachable
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.transfer.errors import NotSettled

__all__ = ["older"]
SECONDS = 20


class Between(LocalFileSystem):
    """A disk on which something happens before one of its renames: the process slept, and its lease went on."""

    def __init__(self, number: int, happens: Callable[[], object]) -> None:
        super().__init__()
        self.left, self.happens = number, happens

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        self.left -= 1
        if self.left == 0:
            self.happens()
        super().rename(source, target)


@pytest.mark.parametrize("number", range(1, 14))
def test_a_run_that_slept_while_another_recovered_leaves_one_whole_unit(tmp_path: Path, number: int) -> None:
    site = Site(tmp_path)
    with suppress(StorageError):
        site.publish(Between(number, site.recover))
    assert site.unit in (OLD, NEW)
    assert site.names == ["x"]


@pytest.mark.parametrize("sleeps_at", range(3, 9))
def test_a_run_that_goes_on_while_another_recovers_makes_no_mixture(tmp_path: Path, sleeps_at: int) -> None:
    for number in range(1, 8):
        site = Site(tmp_path / str(number), new=NEW | {"added": "sorts first"})
        sleeps, may_go_on, is_over = threading.Event(), threading.Event(), threading.Event()

        def sleep(sleeps: threading.Event = sleeps, may_go_on: threading.Event = may_go_on) -> None:
            sleeps.set()
            may_go_on.wait(SECONDS)

        def first(site: Site = site, sleeps: threading.Event = sleeps, is_over: threading.Event = is_over) -> None:
            with suppress(StorageError):
                site.publish(Between(sleeps_at, sleep))
            sleeps.set()
            is_over.set()

        def wake(may_go_on: threading.Event = may_go_on, is_over: threading.Event = is_over) -> None:
            may_go_on.set()
            is_over.wait(SECONDS)

        thread = threading.Thread(target=first)
        thread.start()
        sleeps.wait(SECONDS)
        with suppress(StorageError):
            recover(Between(number, wake), site.base.child("x"), "1", site.base)
        wake()
        thread.join()
        assert site.unit in (None, OLD, site.new), (sleeps_at, number)
        with suppress(StorageError):
            site.recover()
        assert site.unit in (OLD, site.new), (sleeps_at, number)


class Closed(LocalFileSystem):
    """A disk with a directory into which nothing may be put, by whoever may rename all around it."""

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        if target.parent.name == "closed" and ".feedctl-old-" in target.path:
            raise PermissionDenied(path=target)
        super().rename(source, target)


def test_a_directory_into_which_nothing_may_be_put_is_noticed_in_time(tmp_path: Path) -> None:
    site = Site(tmp_path, new=NEW | {"closed/new": "new"})
    (tmp_path / "to/x/closed").mkdir()
    site.publish(Closed())
    assert (site.unit, site.names) == (site.new, ["x"])


def test_a_directory_that_was_tried_keeps_nothing_of_it(tmp_path: Path) -> None:
    site = Site(tmp_path, new=NEW | {"open/new": "new"})
    (tmp_path / "to/x/open").mkdir()
    before = site.inodes()
    site.publish(LocalFileSystem())
    assert (site.unit, site.names, site.inodes()) == (site.new, ["x"], before)
    assert [each.name for each in (tmp_path / "to/x/open").iterdir()] == ["new"]


class After(LocalFileSystem):
    """A disk on which something happens after the unit was put aside."""

    def __init__(self, happens: Callable[[Path], object]) -> None:
        super().__init__()
        self.happens = happens

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        super().rename(source, target)
        if target.name.startswith(".feedctl-old-"):
            self.happens(Path(target.path))


def test_a_name_that_somebody_took_meanwhile_brings_the_old_unit_back(tmp_path: Path) -> None:
    site = Site(tmp_path)
    with pytest.raises(TargetChanged):
        site.publish(After(lambda aside: (aside / "new").write_text("theirs")))
    assert (site.unit, site.names) == (OLD | {"new": "theirs"}, ["x"])


class WithoutDirectories(LocalFileSystem):
    """A store of keys, at least as far as its callers know."""

    capabilities = replace(LocalFileSystem.capabilities, directories=False)


def test_an_empty_directory_that_the_store_of_the_source_cannot_have_gives_way_to_a_file(tmp_path: Path) -> None:
    site = Site(tmp_path, CopyRules(at_once=1, remove_deleted=False))
    (tmp_path / "to/x/new").mkdir()
    site.publish(LocalFileSystem(), source=WithoutDirectories())
    assert (site.unit, site.names) == (OLD | NEW, ["x"])


class Failing(LocalFileSystem):
    """A disk that fails at some renames, each with the error of the class."""

    def __init__(self, numbers: Collection[int], error: type[StorageError], before: Callable[[], object]) -> None:
        super().__init__(lambda: None)
        self.numbers, self.error, self.before, self.count = numbers, error, before, 0

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        self.count += 1
        if self.count in self.numbers:
            self.before()
            raise self.error(path=source)
        super().rename(source, target)


@pytest.mark.parametrize("number", range(2, 13))
def test_a_stop_in_the_middle_does_not_keep_the_unit_from_coming_back(tmp_path: Path, number: int) -> None:
    site, guard = Site(tmp_path), Guard(run=NeverStopped(), conditions=())

    def stop() -> None:
        guard.stop(Stopped(reason="SIGTERM"))

    disk = Failing({number}, NotFound, stop)
    disk._before_effect = guard.check  # noqa: SLF001 - as a run binds its stores
    with suppress(StorageError):
        site.publish(disk, guard)
    assert site.unit in (OLD, NEW)


def test_a_unit_that_cannot_be_put_back_stays_open_for_the_next_run(tmp_path: Path) -> None:
    site = Site(tmp_path)
    with pytest.raises(NotSettled) as raised:
        site.publish(Failing(range(4, 30), NotFound, lambda: None))
    assert raised.value.code in UNKNOWN
    site.recover()
    assert (site.unit, site.names) == (OLD, ["x"])


def test_an_exchange_that_an_error_did_not_keep_from_its_end_has_succeeded(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.publish(Failing({9}, Unreachable, lambda: None))
    assert (site.unit, site.names) == (NEW, ["x"])


def test_a_decision_that_comes_late_does_not_turn_a_recovery_round(tmp_path: Path) -> None:
    """The rename to `ready` is not answered, the unit does not come back, and only then the rename happens."""
    site = Site(tmp_path)
    with pytest.raises(Unreachable):
        site.publish(Failing({7, 10}, Unreachable, lambda: None))
    place = tmp_path / "to/.feedctl-exchange-1-x"
    with suppress(OSError):
        (place / "new").rename(place / "ready")
    site.recover()
    assert (site.unit, site.names) == (OLD, ["x"])
