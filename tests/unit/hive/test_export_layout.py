"""Exports in a directory on this disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tables.tables import partition_of, table_of
from toolkit.catalog.export_metadata import metadata_text
from toolkit.catalog.model import Partition, TableName
from toolkit.el import CanonicalPath
from toolkit.hive.errors import NoExport, NotOurs
from toolkit.hive.export_layout import ExportedPart, Manifest, parts_of, read_export, require_ours
from toolkit.storage import FileSystem, StorageSpec, SymlinkRefused, open_file_system
from toolkit.threads import WorkerPool

TABLE = table_of(TableName("logs", "clicks"), "hdfs://h/t", ds="string")
POOL = WorkerPool(2, "test")
NEVER: Callable[[], None] = lambda: None  # noqa: E731 - a constant


@pytest.fixture
def system() -> FileSystem:
    return open_file_system(StorageSpec(scheme="file"))


def written(directory: Path, *partitions: Partition, manifest: Manifest | None = None) -> CanonicalPath:
    text = metadata_text(TABLE, partitions)
    (directory / "_metadata").write_bytes(text)
    if manifest is not None:
        of_text = replace(manifest, description=hashlib.sha256(text).hexdigest())
        (directory / "_manifest.json").write_bytes(of_text.encoded())
    return CanonicalPath.parse(f"file://{directory}")


def test_an_export_without_a_manifest_is_read_as_it_is(tmp_path: Path, system: FileSystem) -> None:
    place = written(tmp_path, partition_of(TABLE, "a/b"), partition_of(TABLE, ""))
    (tmp_path / "ds=a%2Fb").mkdir()
    (tmp_path / "ds=a%2Fb/x").write_bytes(b"12")
    export = read_export(system, place)
    parts = parts_of(export, sorted(export.partitions), system, POOL, NEVER)
    assert [(part.name, part.files) for part in parts] == [
        ("ds=__HIVE_DEFAULT_PARTITION__", {}),
        ("ds=a%2Fb", {"x": 2}),
    ]


@pytest.mark.parametrize("files", [{"x": (3, "d")}, {"x": (2, "d"), "y": (0, "d")}, {}])
def test_files_that_are_not_those_of_the_manifest_make_it_no_export(
    files: dict[str, tuple[int, str]], tmp_path: Path, system: FileSystem
) -> None:
    manifest = Manifest(description="", parts={"ds=1": ExportedPart(source="s", files=files)})
    place = written(tmp_path, partition_of(TABLE, "1"), manifest=manifest)
    (tmp_path / "ds=1").mkdir()
    (tmp_path / "ds=1/x").write_bytes(b"12")
    with pytest.raises(NoExport, match="not those of"):
        parts_of(read_export(system, place), ["ds=1"], system, POOL, NEVER)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": "feedctl export 1", "digest": 3}', "[" * 200_000])
def test_a_manifest_that_is_none_makes_it_no_export(text: str, tmp_path: Path, system: FileSystem) -> None:
    place = written(tmp_path, partition_of(TABLE, "1"))
    (tmp_path / "_manifest.json").write_text(text)
    with pytest.raises(NoExport):
        read_export(system, place)


def test_a_partition_that_comes_twice_makes_it_no_export(tmp_path: Path, system: FileSystem) -> None:
    place = written(tmp_path, partition_of(TABLE, "1"), partition_of(TABLE, "1"))
    with pytest.raises(NoExport, match="twice"):
        read_export(system, place)


def test_only_an_empty_directory_or_one_of_ours_is_written_to(tmp_path: Path, system: FileSystem) -> None:
    place = CanonicalPath.parse(f"file://{tmp_path}/x")
    assert not require_ours(system, place)
    (tmp_path / "x").mkdir()
    assert require_ours(system, place)
    (tmp_path / "x/precious").touch()
    with pytest.raises(NotOurs, match="precious"):
        require_ours(system, place)
    (tmp_path / "x/.feedctl-export").touch()
    assert require_ours(system, place)


FIGURES = {"numFiles": "2", "totalSize": "9"}


@pytest.mark.parametrize("found", [{}, {"x": b"123456789"}, {"x": b"1", "y": b"2"}])
def test_fewer_files_or_bytes_than_hive_counted_make_it_no_export(
    found: dict[str, bytes], tmp_path: Path, system: FileSystem
) -> None:
    place = written(tmp_path, partition_of(TABLE, "1", parameters=FIGURES))
    if found:
        (tmp_path / "ds=1").mkdir()
    for name, data in found.items():
        (tmp_path / "ds=1" / name).write_bytes(data)
    with pytest.raises(NoExport, match="data are missing"):
        parts_of(read_export(system, place), ["ds=1"], system, POOL, NEVER)


def test_as_much_as_hive_counted_is_read(tmp_path: Path, system: FileSystem) -> None:
    place = written(tmp_path, partition_of(TABLE, "1", parameters=FIGURES), partition_of(TABLE, "2"))
    (tmp_path / "ds=1").mkdir()
    for name in ("x", "y", "_SUCCESS"):
        (tmp_path / "ds=1" / name).write_bytes(b"12345")
    parts = parts_of(read_export(system, place), ["ds=1", "ds=2"], system, POOL, NEVER)
    assert [len(part.files) for part in parts] == [3, 0]


@pytest.mark.parametrize("link", ["_metadata", "_manifest.json", ""])
def test_a_symbolic_link_in_place_of_an_export_or_of_what_tells_of_it_is_refused(
    link: str, tmp_path: Path, system: FileSystem
) -> None:
    export, other = tmp_path / "export", tmp_path / "other"
    (export if link else other).mkdir()
    written(export if link else other, manifest=Manifest(description=""))
    if link:
        (export / link).rename(other)
    (export / link).symlink_to(other)
    with pytest.raises(SymlinkRefused):
        read_export(system, CanonicalPath.parse(f"file://{export}"))


@pytest.mark.parametrize("value", ["../../secret", "/secret", "..", "."])
def test_a_partition_whose_value_leads_out_of_an_export_stays_in_it(
    value: str, tmp_path: Path, system: FileSystem
) -> None:
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "export").mkdir()
    place = written(tmp_path / "export", partition_of(TABLE, value, location=f"file://{tmp_path}/secret"))
    export = read_export(system, place)
    (part,) = parts_of(export, list(export.partitions), system, POOL, NEVER)
    assert part.place.is_within(place)
    assert "/" not in part.place.relative_to(place)
    assert part.files == {}


@pytest.mark.parametrize("name", ["../secret", "/secret", "x/../../secret"])
def test_a_manifest_whose_files_lead_out_of_an_export_makes_it_none(
    name: str, tmp_path: Path, system: FileSystem
) -> None:
    (tmp_path / "secret").write_text("mine")
    (tmp_path / "export").mkdir()
    manifest = Manifest(description="", parts={"ds=1": ExportedPart(source="s", files={name: (4, "d")})})
    place = written(tmp_path / "export", partition_of(TABLE, "1"), manifest=manifest)
    with pytest.raises(NoExport, match="not those of"):
        parts_of(read_export(system, place), ["ds=1"], system, POOL, NEVER)


@pytest.mark.parametrize("link", ["ds=1", "ds=1/region=in", "data"])
def test_a_symbolic_link_on_the_way_to_data_is_refused(link: str, tmp_path: Path, system: FileSystem) -> None:
    export, secret = tmp_path / "export", tmp_path / "secret"
    (secret / "region=in").mkdir(parents=True)
    keys = {} if link == "data" else {"ds": "string", "region": "string"}
    table = table_of(TableName("logs", "clicks"), "hdfs://h/t", **keys)
    (export / link).parent.mkdir(parents=True)
    (export / link).symlink_to(secret)
    partitions = [partition_of(table, "1", "in")] if keys else []
    (export / "_metadata").write_bytes(metadata_text(table, partitions))
    found = read_export(system, CanonicalPath.parse(f"file://{export}"))
    with pytest.raises(SymlinkRefused):
        parts_of(found, ["ds=1/region=in" if keys else ""], system, POOL, NEVER)
