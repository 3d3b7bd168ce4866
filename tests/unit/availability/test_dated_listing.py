"""Instances that are there are found by listing, and only dates that are asked for are listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from toolkit.availability.dated_listing import DatedListing
from toolkit.el import CanonicalPath, Frequency, InstanceSequence, PathTemplate
from toolkit.storage import Entry, FileSystem, StorageSpec, open_file_system

START = datetime(2010, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
SEQUENCE = InstanceSequence(START, Frequency.parse("hours(1)"))


@dataclass
class Listings:
    """A store that notes what is listed."""

    system: FileSystem
    listed: list[str] = field(default_factory=list)

    def list(self, path: CanonicalPath, start_from: str = "") -> Iterator[Entry]:
        self.listed.append(path.name)
        return self.system.list(path, start_from=start_from)

    def __getattr__(self, name: str) -> object:
        return getattr(self.system, name)


def listing(root: Path, text: str) -> DatedListing:
    template = PathTemplate(f"{root}{text}")
    base = CanonicalPath.parse(f"file://{template.base}")
    store = Listings(open_file_system(StorageSpec(scheme="file", authority="", hadoop_conf={})))
    return DatedListing(sequence=SEQUENCE, template=template, base=base, system=store)  # type: ignore[arg-type]


TEXTS = [
    "/clicks/${YEAR}/${MONTH}/${DAY}/${HOUR}",
    "/clicks/${YEAR}-${MONTH}-${DAY}-${HOUR}",
    "/clicks/${YEAR}/m${MONTH}/days/${DAY}${HOUR}/data",
    "/clicks-${YEAR}/${HOUR}/${DAY}/${MONTH}",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_there_is_found_and_nothing_else(tmp_path: Path, text: str) -> None:
    there = [START + number * HOUR for number in (0, 5, 24, 999, 20_000)]
    finder = listing(tmp_path, text)
    for each in there:
        Path(finder.template.render(each)).mkdir(parents=True)
    for odd in ("clicks/2010/13/01/00", "clicks/other", "clicks/2010/01/01/xx", "clicks/_tmp/01"):
        (tmp_path / odd).mkdir(parents=True, exist_ok=True)
    assert finder.instants([(START, START + 30_000 * HOUR)]) == set(there)
    assert finder.instants([(START + HOUR, START + 5 * HOUR), (START + 24 * HOUR, START + 25 * HOUR)]) == {there[2]}


def test_only_dates_that_are_asked_for_are_listed(tmp_path: Path) -> None:
    finder = listing(tmp_path, TEXTS[0])
    for number in range(0, 100_000, 500):
        Path(finder.template.render(START + number * HOUR)).mkdir(parents=True)
    found = finder.instants([(START + 500 * HOUR, START + 501 * HOUR)])
    assert found == {START + 500 * HOUR}
    assert finder.system.listed == ["clicks", "2010", "01", "21"]  # type: ignore[attr-defined]


def test_a_base_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    assert listing(tmp_path, TEXTS[0]).instants([(START, START + 9 * HOUR)]) == set()


def test_an_instance_that_is_a_link_is_found_so_that_whoever_reads_it_refuses_it(tmp_path: Path) -> None:
    finder = listing(tmp_path, TEXTS[1])
    (tmp_path / "clicks").mkdir()
    Path(finder.template.render(START)).symlink_to(tmp_path)
    assert finder.instants([(START, START + 9 * HOUR)]) == {START}


def test_dates_behind_a_link_are_found(tmp_path: Path) -> None:
    finder = listing(tmp_path, TEXTS[0])
    (tmp_path / "other" / "01" / "01" / "00").mkdir(parents=True)
    (tmp_path / "clicks").mkdir()
    (tmp_path / "clicks" / "2010").symlink_to(tmp_path / "other")
    assert finder.instants([(START, START + 9 * HOUR)]) == {START}
