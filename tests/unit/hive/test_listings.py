"""Looks at the partitions of a table that is validated by hand: each directory is listed once, and once more after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from typing_extensions import override

from tests.tables.memory_metastore import MemoryMetastore
from tests.unit.hive.test_staging import flatten
from tests.unit.hive.test_table_import import FEED, FROM, NAMES, URI, Life, Scene
from tests.unit.quality.validators import BLOCKS, CLUSTER, ValidatorBench, nothing
from toolkit.actions.validation import FeedValidation, Part, Written
from toolkit.catalog.model import Partition, TableName
from toolkit.catalog.port import NOTHING
from toolkit.el import CanonicalPath
from toolkit.hive.errors import InstanceNotAvailable
from toolkit.hive.sources import MetastoreSource
from toolkit.hive.staging import written_of
from toolkit.hive.targets import StoredPart
from toolkit.ledger.vocabulary import ValidationState
from toolkit.quality.data import print_of_parts
from toolkit.storage import Entry, FileStatus
from toolkit.storage.local.file_system import LocalFileSystem

FLAG = "_SUCCESS"


class CountedStore(LocalFileSystem):
    """Counts the listings of each directory, and looks at single files."""

    looks: ClassVar[list[str]] = []

    @override
    def list_tree(self, path: CanonicalPath) -> Iterator[Entry]:
        self.looks.append(path.name)
        return super().list_tree(path)

    @override
    def status(self, path: CanonicalPath) -> FileStatus:
        self.looks.append(f"status {path.name}")
        return super().status(path)


class CountedMetastore(MemoryMetastore):
    """Counts the listings of names and the reads of partitions."""

    looks: int = 0

    @override
    def partition_names(self, name: TableName, *, matching: Mapping[str, str] = NOTHING) -> tuple[str, ...]:
        self.looks += 1
        return super().partition_names(name, matching=matching)

    @override
    def partitions(self, name: TableName, names: Sequence[str]) -> tuple[Partition, ...]:
        self.looks += 1
        return super().partitions(name, names)


class SequentialStore(LocalFileSystem):
    """Is good for one call at a time."""

    capabilities = replace(LocalFileSystem.capabilities, parallel=1)


@dataclass
class Bench:
    """A table with two partitions, which have flags, and a validator."""

    root: Path

    def __post_init__(self) -> None:
        CountedStore.looks.clear()
        self.scene = Scene(root=self.root, store=CountedStore)
        self.scene.source = self.metastore = CountedMetastore(("src",), warehouse=f"file:{self.root}/from")
        self.scene.filled()
        flatten(self.scene)
        for name in NAMES:
            self.directory(name).joinpath(FLAG).touch()

    def directory(self, name: str) -> Path:
        """Return the directory of a partition."""
        return self.root / "from/clicks" / name

    def written(self) -> Written:
        """Return the instance as a validation by hand finds it."""
        work, (_, target) = self.scene.work(Life()), self.scene.action()
        source = MetastoreSource(catalog=self.scene.catalog(self.scene.source), uri=lambda _: URI)
        contents = source.contents(replace(target, flag=FLAG), work)
        stored = [
            StoredPart(part=each, place=each.place, storage=each.partition.storage)
            for each in contents.parts
            if each.partition is not None
        ]
        validation = FeedValidation(feed=replace(FEED, availability_flag=FLAG), cluster=CLUSTER, quality=BLOCKS)
        return written_of(target, validation, str(FROM), contents.table, stored, is_listed=True)

    def validated(self, written: Written) -> ValidationState:
        """Return the state of a validation by hand."""
        bench = ValidatorBench(root=self.root, ledger=None, store=CountedStore())
        return bench.validator.validate_by_hand(written, nothing).result.state


def test_each_partition_is_listed_once_before_the_data_are_read_and_once_after(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.validated(bench.written()) is ValidationState.PASSED
    assert Counter(CountedStore.looks) == {Path(name).name: 2 for name in NAMES}
    assert bench.metastore.looks == len(["their names", "their definitions"])


def test_data_that_change_after_the_first_listing_have_no_result(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    written = bench.written()
    bench.directory(NAMES[0]).joinpath("later").write_text("1")
    assert bench.validated(written) is ValidationState.UNKNOWN


def test_the_flag_of_a_partition_is_looked_for_in_its_listing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.directory(NAMES[1]).joinpath(FLAG).unlink()
    with pytest.raises(InstanceNotAvailable, match=f"its flag {FLAG} is not in .*{NAMES[1]}"):
        bench.written()
    assert Counter(CountedStore.looks) == {Path(name).name: 1 for name in NAMES}


def test_parts_that_are_listed_side_by_side_have_the_print_of_those_that_are_listed_one_by_one(tmp_path: Path) -> None:
    for number in range(40):
        place = tmp_path / f"ds={number}"
        place.mkdir()
        place.joinpath("part").write_text(str(number))
    parts = [Part(place=CanonicalPath.parse(f"file:{each}")) for each in sorted(tmp_path.iterdir())]
    side_by_side = print_of_parts(parts, None, lambda _: LocalFileSystem())
    one_by_one = print_of_parts(parts, None, lambda _: SequentialStore())
    assert side_by_side == one_by_one
    assert side_by_side.files == len(parts)
