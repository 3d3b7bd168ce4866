"""Tests of the mark of a run: it stays while any of the calls that are under way side by side may be executed."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.catalog.errors import BadMetadata, CatalogError, MetastoreUnreachable
from toolkit.el import CanonicalPath
from toolkit.errors import StopRequested
from toolkit.hive.registration_mark import RegistrationMark
from toolkit.storage.local.file_system import LocalFileSystem


def made(root: Path) -> RegistrationMark:
    """Return the mark of a run on a table in a directory."""
    return RegistrationMark(
        system=LocalFileSystem(), root=CanonicalPath.parse(f"file://{root}"), run="7", table="clicks"
    )


def ended_by(mark: RegistrationMark, error: Exception) -> None:
    """Make a call that ends so."""
    with pytest.raises(type(error)):
        _call(mark, error)


def _call(mark: RegistrationMark, error: Exception) -> None:
    with mark.kept_without_answer():
        mark.write()
        raise error


def test_the_first_of_two_calls_that_is_over_leaves_the_mark_to_the_other(tmp_path: Path) -> None:
    mark = made(tmp_path)
    with mark.kept_without_answer():
        mark.write()
        with mark.kept_without_answer():
            mark.write()
        ended_by(mark, BadMetadata(about="x"))
        assert mark.may_be_called()
    assert not mark.may_be_called()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [MetastoreUnreachable(about="x"), RuntimeError("x")])
def test_a_call_whose_outcome_is_unknown_leaves_the_mark_when_others_are_over(tmp_path: Path, error: Exception) -> None:
    mark = made(tmp_path)
    with mark.kept_without_answer():
        mark.write()
        ended_by(mark, error)
    with mark.kept_without_answer():
        mark.write()
    assert mark.may_be_called()


@pytest.mark.parametrize("error", [StopRequested("x"), CatalogError(about="x")])
def test_a_call_that_was_not_begun_or_was_refused_keeps_no_mark_when_others_are_over(
    tmp_path: Path, error: Exception
) -> None:
    mark = made(tmp_path)
    with mark.kept_without_answer():
        mark.write()
        ended_by(mark, error)
    assert not mark.may_be_called()
