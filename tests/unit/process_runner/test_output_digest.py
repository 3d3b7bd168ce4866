"""Digests of outputs: equal for data that was written again byte for byte, whatever its files are called."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from toolkit.availability import DataAccess
from toolkit.el import CanonicalPath
from toolkit.entities import Cluster, Interface, Interfaces
from toolkit.process_runner import output_digest as digests
from toolkit.process_runner.output_digest import output_digest
from toolkit.storage import FileSystem, NotFound
from toolkit.storage.local.file_system import LocalFileSystem

CLUSTER = Cluster(name="primary", interfaces=Interfaces(write=Interface(endpoint="file:///")))


@dataclass(frozen=True)
class _Data:
    def stores(self, path: CanonicalPath) -> FileSystem:
        del path
        return LocalFileSystem()


def _digest(place: Path) -> str:
    return output_digest(cast("DataAccess", _Data()), CLUSTER, f"file://{place}")


def _write(place: Path, **files: str) -> Path:
    for name, text in files.items():
        file = place / name.replace("__", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return place


def test_the_names_and_times_of_files_do_not_count_but_directories_and_contents_do(tmp_path: Path) -> None:
    first = _write(tmp_path / "1", us__part_a="x", us__part_b="y", _SUCCESS="")
    again = _write(tmp_path / "2", us__part_c="y", us__part_d="x")
    os.utime(again / "us" / "part_c", (0, 0))
    assert _digest(first) == _digest(again)
    assert _digest(_write(tmp_path / "3", us__part_a="x", fr__part_b="y")) != _digest(first)
    assert _digest(_write(tmp_path / "4", us__part_a="x", us__part_b="z")) != _digest(first)
    assert _digest(_write(tmp_path / "5", us__part_a="x", us__part_b="y", us__part_c="")) != _digest(first)


def test_of_much_data_names_and_times_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = _write(tmp_path / "1", part_a="xyz")
    contents = _digest(place)
    monkeypatch.setattr(digests, "MOST_BYTES", 2)
    listing = _digest(place)
    assert (contents.split(":")[0], listing.split(":")[0]) == ("contents", "listing")
    os.utime(place / "part_a", (0, 0))
    assert _digest(place) != listing
    monkeypatch.setattr(digests, "MOST_FILES", 0)
    assert _digest(place).startswith("listing:")


def test_an_output_that_is_a_file_has_a_digest_and_one_that_is_not_there_has_none(tmp_path: Path) -> None:
    place = _write(tmp_path, part_a="x") / "part_a"
    assert _digest(place) == _digest(place)
    with pytest.raises(NotFound):
        _digest(tmp_path / "nowhere")
