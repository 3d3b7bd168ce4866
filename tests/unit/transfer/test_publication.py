"""Giving what is ready the name of a unit: all of it, or what was there before."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from toolkit.el import CanonicalPath
from toolkit.errors import StopRequested
from toolkit.storage import PermissionDenied
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.transfer.publication import swap_in

Completing = Callable[[], AbstractContextManager[None]]


class _Refusing(LocalFileSystem):
    """Does not give a certain name to anything that is ready."""

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        """As the disk does it, but for that."""
        if source.name == "ready" and target.name == "unit":
            raise PermissionDenied(path=target)
        super().rename(source, target)


def stopped() -> AbstractContextManager[None]:
    """The run must not go on."""
    message = "stopped"
    raise StopRequested(message)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A directory in which something is ready."""
    (tmp_path / "ready").mkdir()
    (tmp_path / "ready/new").touch()
    return tmp_path


def with_unit(base: Path) -> None:
    """Something has the name already."""
    (base / "unit").mkdir()
    (base / "unit/old").touch()


def names(base: Path) -> set[str]:
    """Of all files."""
    return {str(each.relative_to(base)) for each in base.rglob("*") if each.is_file()}


def swap(system: LocalFileSystem, base: Path, *, replaces: bool, completing: Completing = nullcontext) -> None:
    """Give what is ready the name of the unit."""
    place = CanonicalPath.parse(f"file://{base}")
    aside = place.child("aside") if replaces else None
    swap_in(system, place.child("ready"), place.child("unit"), aside=aside, base=place, completing=completing)


def test_what_is_ready_gets_a_free_name(base: Path) -> None:
    swap(LocalFileSystem(), base, replaces=False)
    assert names(base) == {"unit/new"}


def test_what_has_the_name_goes(base: Path) -> None:
    with_unit(base)
    swap(LocalFileSystem(), base, replaces=True)
    assert names(base) == {"unit/new"}


def test_when_it_cannot_get_the_name_what_was_there_comes_back(base: Path) -> None:
    with_unit(base)
    with pytest.raises(PermissionDenied):
        swap(_Refusing(), base, replaces=True)
    assert names(base) == {"unit/old", "ready/new"}


def test_a_run_that_is_stopped_before_has_no_effect(base: Path) -> None:
    with_unit(base)
    with pytest.raises(StopRequested):
        swap(LocalFileSystem(), base, replaces=True, completing=stopped)
    assert names(base) == {"unit/old", "ready/new"}
