"""Several outputs of a process that are judged: all of them are published, each as it was judged, or none is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tests.unit.actions.fake_action import context
from tests.unit.actions.fake_validator import FakeValidator
from tests.unit.planning.entities import cluster, path_feed, process
from toolkit.actions.action import Applied
from toolkit.actions.model import TargetPlan
from toolkit.actions.validation import QUALITY_UNKNOWN, Publishable, Written
from toolkit.availability import DataAccess, no_metastore
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Output
from toolkit.entities.quality import Quality
from toolkit.planning.process_io import ProcessSite
from toolkit.process_runner.codes import NOT_REACHED
from toolkit.process_runner.output_batches import PublishBatch, published_items
from toolkit.process_runner.staging import StagedOutputs
from toolkit.process_runner.targets import ProcessDetail, ProcessTarget, StepItem
from toolkit.process_runner.updates import RunUpdates
from toolkit.runs.stop import NeverStopped
from toolkit.storage import PermissionDenied
from toolkit.storage.local.file_system import LocalFileSystem

NOON = parse_instant("2026-03-01T12:00Z")


@dataclass
class SlowValidator(FakeValidator):
    """While the second output is judged, somebody does something."""

    meanwhile: Callable[[], None] = lambda: None

    def validate(self, written: Written, check: Callable[[], None]) -> Publishable:
        if self.validated:
            self.meanwhile()
        return super().validate(written, check)


class Refusing(LocalFileSystem):
    """Does not let a directory be renamed to a place."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self.place: Path | None = place

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        if target.path == str(self.place):
            raise PermissionDenied(path=target)
        super().rename(source, target)


def outputs(root: Path, validator: FakeValidator) -> StagedOutputs:
    """The outputs `a` and `b` of an instance, which wait at the gate."""
    feeds = {
        name: replace(
            path_feed(name, f"{root}/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"),
            quality=Quality(suites=("clicks",)),
        )
        for name in "ab"
    }
    made = process({}, {name: Output(feed=name, instance="now(0,0)") for name in "ab"})
    site = ProcessSite(process=made, cluster=cluster(), feeds=feeds)
    for name in "ab":
        waiting(root, name).mkdir(parents=True)
        (waiting(root, name) / "part-0").write_text("good")
    disk = LocalFileSystem()
    work = replace(context(NeverStopped()), stores=lambda _: disk, run_name="7", validator=validator)
    return StagedOutputs(
        site=site,
        outputs=site.outputs(NOON),
        work=work,
        now=lambda: NOON,
    )


def waiting(root: Path, name: str) -> Path:
    """Return the staging place of an output."""
    return root / name / ".feedctl-staging/2026-03-01-12"


def publish(made: StagedOutputs) -> Applied[StepItem]:
    """Publish what waits, as the batch after the last step does."""
    target = ProcessTarget(site=made.site, nominal_time=NOON, waits_until=NOON)
    items = published_items(target, [each.planned for each in made.by_name.values()])
    step = StepItem(name="main", engine=None, path="", instance_key=target.instance_key)
    plan = TargetPlan(target=target, detail=ProcessDetail(), items=(step, *items))
    outputs_made = made.look(has_run=True)
    batch = PublishBatch(
        plan=plan,
        positions=range(1, 3),
        work=made.work,
        staged=made,
        made=outputs_made,
        updates=RunUpdates(plan=plan),
        data=DataAccess(stores=made.work.stores, metastores=no_metastore),
    )
    return batch.apply(lambda _: None)


def ends(applied: Applied[StepItem]) -> list[tuple[str, str]]:
    return [(each.outcome.value, each.code) for each in applied.results]


def test_all_are_published(tmp_path: Path) -> None:
    applied = publish(outputs(tmp_path, FakeValidator()))
    assert (ends(applied), applied.failed, len(applied.writes)) == ([("done", ""), ("done", "")], None, 1)
    assert (tmp_path / "a/2026-03-01-12/part-0").exists()
    assert (tmp_path / "b/2026-03-01-12/part-0").exists()


def test_an_output_that_changes_while_another_is_judged_is_not_published_and_neither_is_that(tmp_path: Path) -> None:
    def meanwhile() -> None:
        (waiting(tmp_path, "a") / "part-1").write_text("bad")

    made = outputs(tmp_path, SlowValidator(meanwhile=meanwhile))
    applied = publish(made)
    assert (ends(applied), applied.writes) == ([("failed", QUALITY_UNKNOWN), ("skipped", NOT_REACHED)], ())
    assert "changed after it was validated" in applied.results[0].message
    assert not (tmp_path / "a/2026-03-01-12").exists()
    assert not (tmp_path / "b/2026-03-01-12").exists()
    assert "it is bad" in publish(made).results[0].message


def test_one_that_is_blocked_keeps_the_others_back(tmp_path: Path) -> None:
    made = outputs(tmp_path, FakeValidator())
    (waiting(tmp_path, "b") / "part-0").write_text("bad")
    applied = publish(made)
    assert [outcome for outcome, _ in ends(applied)] == ["skipped", "failed"]
    assert applied.failed is not None
    assert applied.failed.message == applied.results[1].message
    assert not (tmp_path / "a/2026-03-01-12").exists()


def test_after_one_that_cannot_be_published_no_other_is_and_the_job_does_not_end(tmp_path: Path) -> None:
    made = outputs(tmp_path, FakeValidator())
    refusing = Refusing(tmp_path / "a/2026-03-01-12")
    made = replace(made, work=replace(made.work, stores=lambda _: refusing))
    applied = publish(made)
    assert (ends(applied), applied.writes) == ([("failed", "permission_denied"), ("skipped", NOT_REACHED)], ())
    refusing.place = None
    assert ends(publish(made)) == [("done", ""), ("done", "")]
