"""The composition root opens storage as a run may use it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from toolkit.bootstrap.storages import StoreChoice
from toolkit.el import CanonicalPath
from toolkit.errors import NotImplementedYet
from toolkit.runs.errors import Stopped
from toolkit.storage import ReadOnlyStorage
from toolkit.storage.bound import BoundStores


def _stores(check: Callable[[], None], *, read_only: bool = False) -> BoundStores:
    return StoreChoice().shared().bound(check, read_only=read_only)


def _never() -> None:
    raise Stopped(reason="test")


def test_a_dry_run_cannot_change_anything(tmp_path: Path) -> None:
    (tmp_path / "instance").mkdir()
    path = CanonicalPath("file", "", str(tmp_path / "instance"))
    storages = _stores(lambda: None, read_only=True)
    with pytest.raises(ReadOnlyStorage):
        storages.of(path).delete(path, below=path.parent)
    assert (tmp_path / "instance").is_dir()


def test_every_effect_asks_whether_the_run_may_go_on(tmp_path: Path) -> None:
    (tmp_path / "instance").mkdir()
    path = CanonicalPath("file", "", str(tmp_path / "instance"))
    storages = _stores(_never)
    with pytest.raises(Stopped):
        storages.of(path).delete(path, below=path.parent)
    assert (tmp_path / "instance").is_dir()


def test_a_store_is_opened_once(tmp_path: Path) -> None:
    storages = _stores(lambda: None, read_only=True)
    path = CanonicalPath("file", "", str(tmp_path))
    assert storages.of(path) is storages.of(path.child("other"))


def test_a_store_without_adapter_is_refused() -> None:
    with pytest.raises(NotImplementedYet, match="storage viewfs://bucket"):
        _stores(lambda: None, read_only=True).of(CanonicalPath("viewfs", "bucket", "/data"))
