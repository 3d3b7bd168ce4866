"""Retention beside a run that writes an instance which is older than the limit: a rerun or a backfill."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from pathlib import Path

import pytest

from tests.integration.process_runs import KEYS
from tests.loss.rewriting import Rewriting, whole
from toolkit.process_runner.targets import ProcessResult
from toolkit.result import ExitCode, Outcome
from toolkit.retention.archive import ArchivedDelete
from toolkit.retention.delete import Removed, SingleDelete
from toolkit.retention.plan import PlanItem
from toolkit.storage import aside_name

BOTH = pytest.mark.parametrize("archives", [False, True])


def _written(directory: Path, *, archives: bool) -> Rewriting:
    """The instance is there, older than the limit."""
    site = Rewriting(directory=directory, archives=archives)
    site.fill(*KEYS[:3])
    assert site.process(text="old").exit_code is ExitCode.DONE
    assert site.seen() == whole("old")
    return site


@BOTH
def test_an_instance_that_a_run_writes_is_skipped_and_the_next_run_takes_it(tmp_path: Path, *, archives: bool) -> None:
    site = _written(tmp_path, archives=archives)
    with site.half_written() as running:
        beside = site.evict()
    assert running.result().exit_code is ExitCode.DONE
    assert site.seen() == whole("new")
    (item,) = beside.items
    (run,) = running.result().targets
    assert (item.outcome, item.code, beside.exit_code) == (Outcome.SKIPPED, "lease_held", ExitCode.DONE)
    assert run.run is not None
    assert f"run {run.run.run_id}" in item.message
    assert [kind for kind, _ in site.events()] == ["available", "updated"]
    assert site.evict().exit_code is ExitCode.DONE
    assert (site.seen(), site.seen("old")) == ({}, whole("new") if archives else {})
    assert [kind for kind, _ in site.events()] == ["available", "updated", "evicted"]


def test_a_directory_is_not_removed_whole_while_a_run_writes_a_new_instance_in_it(tmp_path: Path) -> None:
    site = Rewriting(directory=tmp_path, layout="${YEAR}/${MONTH}/${DAY}/${HOUR}")
    site.fill(*KEYS[:4])
    for key in KEYS[:3]:
        assert site.process(key=key).exit_code is ExitCode.DONE
    with site.half_written(KEYS[3]):
        beside = site.evict()
    assert beside.exit_code is ExitCode.DONE
    assert [site.seen(key=key) for key in KEYS[:4]] == [{}, {}, {}, whole("new")]
    assert [kind for kind, _ in site.events(KEYS[3])] == ["available"]


@BOTH
def test_a_run_does_not_write_what_retention_is_removing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, archives: bool
) -> None:
    """The process is asked for while the instance is written down as going, and before it has gone."""
    site = _written(tmp_path, archives=archives)
    calls: list[ProcessResult] = []
    removed, archived = SingleDelete.remove, ArchivedDelete.remove

    def remove(self: SingleDelete, item: PlanItem, *, gone_by_us: bool = False) -> Removed:
        calls.append(site.process())
        return removed(self, item, gone_by_us=gone_by_us)

    def archive(self: ArchivedDelete, item: PlanItem) -> Removed:
        calls.append(site.process())
        return archived(self, item)

    monkeypatch.setattr(*((ArchivedDelete, "remove", archive) if archives else (SingleDelete, "remove", remove)))
    (item,) = site.evict().items
    monkeypatch.undo()
    (refused,) = calls
    (target,) = refused.targets
    assert item.outcome is Outcome.DONE
    assert refused.exit_code is ExitCode.NOT_YET
    assert target.plan.waiting is not None
    assert target.plan.waiting.code == "eviction_under_way"
    assert (site.seen(), site.seen("old")) == ({}, whole("old") if archives else {})
    assert site.process().exit_code is ExitCode.DONE
    assert site.seen() == whole("new")
    assert [kind for kind, _ in site.events()] == ["available", "evicted", "available"]


def test_a_new_instance_waits_until_the_directory_above_it_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Rewriting(directory=tmp_path, layout="${YEAR}/${MONTH}/${DAY}/${HOUR}")
    site.fill(*KEYS[:4])
    for key in KEYS[:3]:
        assert site.process(key=key).exit_code is ExitCode.DONE
    calls: list[ExitCode] = []
    removed, one_by_one = SingleDelete.remove, threading.Lock()

    def remove(self: SingleDelete, item: PlanItem, *, gone_by_us: bool = False) -> Removed:
        here = Path(item.path.path)
        aside = here.with_name(aside_name(here.name))
        with one_by_one:
            here.rename(aside)  # as it is called while it is emptied
            calls.append(site.process(key=KEYS[3]).exit_code)
            aside.rename(here)
        return removed(self, item, gone_by_us=gone_by_us)

    monkeypatch.setattr(SingleDelete, "remove", remove)
    assert site.evict().exit_code is ExitCode.DONE
    assert calls == [ExitCode.NOT_YET] * 3
    assert site.process(key=KEYS[3]).exit_code is ExitCode.DONE
    assert site.seen(key=KEYS[3]) == whole("new")


def test_instances_that_write_one_output_run_at_the_same_time(tmp_path: Path) -> None:
    """Hours that each write a file of their day."""
    site = _written(tmp_path, archives=False)
    process = tmp_path / "repo/processes/count.yaml"
    process.write_text(process.read_text().replace('feed: counts, instance: "now', 'feed: counts, instance: "today'))
    with site.half_written() as running:
        beside, retention = site.process(key=KEYS[1], into=KEYS[0]), site.evict()
    assert (beside.exit_code, running.result().exit_code) == (ExitCode.DONE, ExitCode.DONE)
    assert {each.code for each in retention.items} == {"lease_held"}


def _process_meanwhile(site: Rewriting, monkeypatch: pytest.MonkeyPatch, feed: str, row: str = "") -> ProcessResult:
    """The process is asked for after retention of a feed has looked for writers, and before something goes."""
    calls: list[ProcessResult] = []
    removed = SingleDelete.remove

    def remove(self: SingleDelete, item: PlanItem, *, gone_by_us: bool = False) -> Removed:
        if row:
            with contextlib.closing(sqlite3.connect(site.directory / "ledger.db")) as ledger:
                ledger.execute("UPDATE item SET path = ? WHERE kind = 'instance:data'", (row,))
                ledger.commit()
        calls.append(site.process())
        return removed(self, item, gone_by_us=gone_by_us)

    monkeypatch.setattr(SingleDelete, "remove", remove)
    assert site.evict(feed).exit_code is ExitCode.DONE
    (found,) = calls
    return found


def test_a_run_waits_for_retention_of_a_feed_that_reaches_the_directory_through_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = _written(tmp_path, archives=False)
    link, feeds = tmp_path / "data/linked", tmp_path / "repo/feeds"
    link.symlink_to(tmp_path / "data/counts")
    settings = tmp_path / "repo/repo.yaml"
    settings.write_text(f'{settings.read_text()}trusted_links: ["{link}"]\n')
    text = (feeds / "counts.yaml").read_text()
    (feeds / "linked.yaml").write_text(text.replace("name: counts", "name: linked").replace("/counts/", "/linked/"))
    assert _process_meanwhile(site, monkeypatch, "linked").exit_code is ExitCode.NOT_YET
    assert [kind for kind, _ in site.events()] == ["available"]


@pytest.mark.parametrize("row", ["", "nonsense", "file:///a/../b"])
def test_a_row_that_names_no_place_ends_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str) -> None:
    site = _written(tmp_path, archives=False)
    assert _process_meanwhile(site, monkeypatch, "counts", row).exit_code is ExitCode.NOT_YET


def test_a_run_that_has_lost_its_lease_announces_nothing(tmp_path: Path) -> None:
    """As after a long sleep of the machine: retention may have taken what it wrote."""
    site = _written(tmp_path, archives=False)

    def expire(part: int) -> None:
        if part == 1:
            with contextlib.closing(sqlite3.connect(tmp_path / "ledger.db")) as ledger:
                ledger.execute("UPDATE lease SET expires_at = '2026-01-01T00:00:00.000000Z'")
                ledger.commit()
            assert site.evict().exit_code is ExitCode.DONE

    assert site.process(expire).exit_code is not ExitCode.DONE
    assert [kind for kind, _ in site.events()] == ["available", "evicted"]
