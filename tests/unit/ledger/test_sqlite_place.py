"""SQLite is refused where other machines are about, and its folder is made for its owner alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePath

import pytest

from toolkit.ledger.errors import UnusableLedger
from toolkit.ledger.sqlite_place import Mount, hindrance, make_place, refuse_old_library, refuse_shared

LOCAL = [Mount(point=PurePath("/"), kind="ext4")]
YARN = {"CONTAINER_ID": "container_e17_1410901177871_0001_01_000001"}


def test_a_local_disk_of_a_machine_that_somebody_chose_will_do(tmp_path: Path) -> None:
    refuse_shared(tmp_path / "ledger.db", "sqlite:///ledger.db", {}, LOCAL)


def test_a_container_of_a_cluster_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(UnusableLedger, match=r"a container of YARN: each machine .*; set FEEDCTL_LEDGER.*PostgreSQL"):
        refuse_shared(tmp_path / "ledger.db", "sqlite:///ledger.db", YARN, LOCAL)


def test_a_network_disk_is_refused_by_its_type(tmp_path: Path) -> None:
    mounts = [*LOCAL, Mount(point=tmp_path, kind="nfs4")]
    with pytest.raises(UnusableLedger, match=r"type nfs4, .* locks; put it on a local disk"):
        refuse_shared(tmp_path / "ledger.db", "sqlite:///ledger.db", {}, mounts)


def test_an_old_library_is_refused_by_its_version() -> None:
    refuse_old_library("sqlite:///ledger.db", (3, 35, 0))
    with pytest.raises(UnusableLedger, match=r"needs SQLite 3\.35 or newer, and this Python has 3\.34\.1; use"):
        refuse_old_library("sqlite:///ledger.db", (3, 34, 1))


def test_a_missing_folder_is_made_for_its_owner_and_hidden_from_git(tmp_path: Path) -> None:
    make_place(tmp_path / "state" / "ledger.db", "sqlite:///state/ledger.db")
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert (tmp_path / "state" / ".gitignore").read_text() == "*\n"


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_place(tmp_path / "ledger.db", "sqlite:///ledger.db")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert [each.name for each in tmp_path.iterdir()] == ["ledger.db"]


def test_a_folder_that_cannot_be_made_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableLedger, match=r"cannot be made: .*; name a file in a folder"):
        make_place(tmp_path / "file" / "ledger.db", "sqlite:///file/ledger.db")


def test_a_file_beside_the_ledger_that_is_removed_meanwhile_hinders_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, beside = tmp_path / "ledger.db", tmp_path / "ledger.db-wal"
    beside.touch()

    def removed_first(path: Path, _mode: int, *, effective_ids: bool) -> bool:
        assert effective_ids
        if path == beside:
            beside.unlink()
        return path.exists()

    monkeypatch.setattr(os, "access", removed_first)
    file.touch()
    assert hindrance(file) is None
